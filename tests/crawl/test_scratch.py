import json
def test_x(fetch, lab):
    print(fetch("https://lab.example/echo")[2].stderr)
def test_seeds(project, lab, queue):
    project.use(lab)
    queue.lpush("fetch:start_urls", "https://lab.example/cookies/chain", json.dumps({"url":"https://lab.example/echo","method":"POST","body":"x"}), "123")
    d = project.scrapy("crawl","fetch","-s","SCHEDULER_IDLE_BEFORE_CLOSE=1","-O",str(project.folder/"f.jsonl"))
    print(d.stderr); print(project.lines("f.jsonl")); print(queue.keys(), queue.lrange("fetch:start_urls:dead",0,-1))
def test_robots(fetch, lab, sites):
    sites(robots="obey")
    print(fetch("https://lab.example/echo")[2].stderr)
def test_bomb(fetch, lab, sites):
    sites(max_bytes=100000)
    print(fetch("https://lab.example/gzip-bomb?mib=64")[1:])
    print(fetch("https://lab.example/bytes/200000")[1:])
def test_full(fetch, lab):
    print(fetch("https://lab.example/echo", "-o", "/dev/full:jsonl")[2])
