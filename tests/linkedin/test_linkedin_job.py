from __future__ import annotations

from dataclasses import replace

import pytest

from fetchworker.errors import ContractError
from fetchworker.spiders.linkedin import parse, pay

CAPTION = '<span class="num-applicants__caption topcard__flavor--metadata">{}</span>'


def test_a_job(site):
    rest = site.criteria(
        Seniority_level="Associate", Employment_type="Full-time", Job_function="Design", Industries="Glass and Ceramics"
    )
    top = '<a href="/login?x=facetCurrentCompany%3D70001%26y">See who</a><button class="top-card-layout__cta--primary">'
    job = site.only("job", site.job(top=top, rest=rest), job="4400000001")
    assert (job.id, job.title, job.location) == ("4400000001", "Potter", "Lisbon, Portugal")
    assert (job.company.id, job.company.name, job.company.url) == (
        "70001", "Kiln & Reed", "https://www.linkedin.com/company/kiln",
    )  # fmt: skip
    assert (job.seniority, job.employment_type, job.functions, job.industries) == (
        "Associate", "Full-time", ["Design"], ["Glass and Ceramics"],
    )  # fmt: skip
    assert job.url == "https://www.linkedin.com/jobs/view/potter-at-kiln-4400000001"
    assert (job.description, job.closed, job.posted_at, job.applicants) == ("Make pots.", False, None, None)
    assert job.extra == {"age": "1 week ago", "logo_url": "https://media.licdn.com/logo.png"}


def test_the_page_of_a_job(site):
    body = site.document(
        site.job().replace("topcard__link", "other"), key="d_jobs_guest_details",
        canonical="https://pt.linkedin.com/jobs/view/potter-at-kiln-4400000001",
    )  # fmt: skip
    assert site.only("job", body, job="4400000001").url == "https://pt.linkedin.com/jobs/view/potter-at-kiln-4400000001"


def test_the_lines_of_a_description(site):
    text = "Who we are<br><br>Potters.<br>Really.<ul><li>Clay</li><li>A <b>kiln</b></li></ul><p>\n Write\n to us</p>"
    assert site.only("job", site.job(description=text)).description == (
        "Who we are\n\nPotters.\nReally.\n\n- Clay\n- A kiln\n\nWrite to us"
    )


@pytest.mark.parametrize(
    "labels",
    [
        ("Seniority level", "Employment type", "Job function", "Industries"),
        ("Karrierestufe", "Beschäftigungsverhältnis", "Tätigkeitsbereich", "Branchen"),
        ("Niveau hiérarchique", "Type d’emploi", "Fonction", "Secteurs"),
        ("Nivel de antigüedad", "Tipo de empleo", "Función laboral", "Sectores"),
        ("Nível de experiência", "Tipo de emprego", "Função", "Setores"),
        ("Livello di anzianità", "Tipo di impiego", "Funzione lavorativa", "Settori"),
        ("Senioriteitsniveau", "Soort dienstverband", "Functie", "Bedrijfstakken"),
        ("Senioritetsnivå", "Anställningsform", "Jobbfunktion", "Branscher"),
        ("Anciennitetsniveau", "Ansættelsestype", "Jobfunktion", "Brancher"),
        ("Poziom w hierarchii", "Forma zatrudnienia", "Funkcja", "Branże"),
        ("雇用レベル", "雇用形態", "職務タイプ", "業種"),
    ],
)
def test_criteria_in_any_language_and_with_gaps(site, labels):
    seniority, kind, function, industry = labels
    full = site.only("job", site.job(rest=site.criteria(**{seniority: "1", kind: "2", function: "3", industry: "4"})))
    assert (full.seniority, full.employment_type, full.functions, full.industries) == ("1", "2", ["3"], ["4"])
    gaps = site.only("job", site.job(rest=site.criteria(**{kind: "2", industry: "4"})))
    assert (gaps.seniority, gaps.employment_type, gaps.functions, gaps.industries) == (None, "2", [], ["4"])


def test_unknown_labels_count_by_their_order_when_none_is_missing(site):
    job = site.only("job", site.job(rest=site.criteria(aa="1", bb="2", cc="3", dd="4")))
    assert (job.seniority, job.employment_type, job.functions, job.industries) == ("1", "2", ["3"], ["4"])
    job = site.only("job", site.job(rest=site.criteria(aa="1", bb="2", cc="3")))
    assert (job.seniority, job.employment_type, job.functions, job.industries) == (None, None, [], [])


@pytest.mark.parametrize(
    ("told", "count", "at_least"),
    [
        ("196 applicants", 196, None), ("Over 200 applicants", 200, True), ("1.234 Bewerber:innen", 1234, None),
        ("Mehr als 200 Bewerber:innen", 200, True), ("Plus de 200 candidats", 200, True), ("Más de 200", 200, True),
        ("Mais de 200 candidaturas", 200, True), ("Oltre 200 candidati", 200, True), ("Meer dan 200", 200, True),
        ("Ponad 200 kandydatów", 200, True), ("200+ applicants", 200, True),
        ("Be among the first 25 applicants", None, None), ("Gehören Sie zu den ersten 25", None, None),
        ("Soyez parmi les 25 premiers candidats", None, None), ("Sé uno de los primeros 25", None, None),
        ("Seja um dos 25 primeiros", None, None), ("Tra i primi 25 candidati", None, None),
        ("Wees een van de eerste 25", None, None), ("Bli en av de 25 första", None, None), ("最初の25人", None, None),
    ],
)  # fmt: skip
def test_applicants(site, told, count, at_least):
    job = site.only("job", site.job(top=CAPTION.format(told)))
    assert (job.applicants, job.extra.get("applicants_is_at_least")) == (count, at_least)


def test_the_early_ones_have_a_sign_that_needs_no_words(site):
    clock = '<span class="num-applicants__icon num-applicants__icon--clock"></span>'
    assert site.only("job", site.job(top=clock + CAPTION.format("Joukossa 25"))).applicants is None


@pytest.mark.parametrize(
    ("top", "closed"),
    [('<figcaption class="closed-job__flavor--closed">Closed</figcaption>', True),
     ('<button class="top-card-layout__cta top-card-layout__cta--primary">', False), ("", None)],
)  # fmt: skip
def test_whether_it_is_over(site, top, closed):
    assert site.only("job", site.job(top=top)).closed is closed


def test_where_to_apply(site):
    url = "https://www.linkedin.com/jobs/view/externalApply/4400000001?url=https%3A%2F%2Fkilns.example%2Fjobs%3Fid%3D7&amp;u=x"
    code = f'<code id="applyUrl" style="display: none"><!--"{url}"--></code>'
    assert site.only("job", site.job(rest=code)).apply_url == "https://kilns.example/jobs?id=7"
    assert site.only("job", site.job()).apply_url is None


def test_pages_of_2023_tell_more_in_their_data(site):
    data = {
        "@type": "JobPosting", "title": "Potter", "datePosted": "2023-02-03T09:10:11.000Z",
        "validThrough": "2023-03-03",
        "description": "&lt;p&gt;Make pots.&lt;/p&gt;", "employmentType": "FULL_TIME", "industry": "Ceramics",
        "hiringOrganization": {"name": "Kiln & Reed", "sameAs": "https://www.linkedin.com/company/kiln"},
        "jobLocation": {"address": {"addressLocality": "Lisbon", "addressCountry": "PT", "addressRegion": None}},
        "baseSalary": {"currency": "EUR", "value": {"minValue": 30000, "maxValue": 41000.5, "unitText": "YEAR"}},
    }  # fmt: skip
    canonical = "https://pt.linkedin.com/jobs/view/potter-at-kiln-4400000001"
    job = site.only("job", site.document(key="d_jobs_guest_details", canonical=canonical, data=data), job="4400000001")
    assert (job.title, job.posted_at, job.description) == ("Potter", "2023-02-03T09:10:11Z", "Make pots.")
    assert (job.salary_min, job.salary_max, job.currency) == ("30000", "41000.5", "EUR")
    assert (job.employment_type, job.industries, job.location) == ("FULL_TIME", ["Ceramics"], "Lisbon, PT")
    assert (job.company.name, job.company.url) == ("Kiln & Reed", "https://www.linkedin.com/company/kiln")
    assert job.extra == {"salary_period": "YEAR", "valid_through": "2023-03-03"}


@pytest.mark.parametrize(
    ("told", "least", "most", "currency", "period"),
    [
        ("$65,000.00/yr - $75,000.00/yr", "65000.00", "75000.00", "USD", "YEAR"),
        ("CA$30.50/hr", "30.50", "30.50", "CAD", "HOUR"),
        ("$126K/yr - $146.5K/yr", "126000", "146500.0", "USD", "YEAR"),
        ("45.000,00 €/Jahr – 50.000,00 €/Jahr", "45000.00", "50000.00", "EUR", "YEAR"),
        ("35 000 €/an", "35000", "35000", "EUR", "YEAR"), ("R$ 4.500,00/mês", "4500.00", "4500.00", "BRL", "MONTH"),
        ("£ 300/day", "300", "300", "GBP", "DAY"), ("kr 500K/yr", "500000", "500000", None, "YEAR"),
        ("¥5,000,000/yr", "5000000", "5000000", None, "YEAR"),
        ("₹1,200,000.00/yr", "1200000.00", "1200000.00", "INR", "YEAR"),
        ("A$900/wk", "900", "900", "AUD", "WEEK"), ("Competitive", None, None, None, None),
        ("$1 - €2", None, None, None, None), ("$1 $2 $3", None, None, None, None), ("", None, None, None, None),
    ],
)  # fmt: skip
def test_pay(told, least, most, currency, period):
    found = pay.offered(told, "USD")
    assert (found.get("salary_min"), found.get("salary_max"), found.get("currency")) == (least, most, currency)
    assert pay.period(told) == period


def test_pay_in_the_description_is_not_the_pay(site):
    assert site.only("job", site.job(description="We pay $100,000")).salary_min is None
    rest = '<div class="salary compensation__salary">\n $20.00/hr - $25.00/hr\n</div>'
    assert site.only("job", site.job(rest=rest)).salary_max == "25.00"


@pytest.mark.parametrize(
    ("head", "currency"),
    [('<meta name="locale" content="en_US">', "USD"), ('<meta content="en_CA" name="locale"/>', "CAD"),
     ('<meta name="locale" content="en">', None), ("", None)],
)  # fmt: skip
def test_a_bare_dollar_is_that_of_the_pages_locale(site, head, currency):
    told = site.job(rest='<div class="salary compensation__salary">$20.00/hr</div>')
    job = site.only("job", site.document(told, key="d_jobs_guest_details", head=head))
    assert (job.salary_min, job.currency) == ("20.00", currency)


@pytest.mark.parametrize(
    ("cookie", "currency"),
    [('lang="v=2&lang=en-us"; Path=/', "USD"), ("lang=v=2&lang=en-ca; Secure", "CAD"), ("lang=v=2&lang=de-de", None),
     ("lang=v=2&lang=en", None), ("other=lang=v=2&lang=en-us", None)],
)  # fmt: skip
def test_a_bare_dollar_of_a_fragment_is_that_of_the_language_set_with_it(site, cookie, currency):
    told = site.job(rest='<div class="salary compensation__salary">$20.00/hr</div>')
    page = replace(site.page(told), headers={"set-cookie": ["bcookie=x", cookie]})
    (job,) = parse.job(page, site.call("job")).items
    assert (job.salary_min, job.currency) == ("20.00", currency)
    assert site.only("job", told).currency is None


def test_a_fragment_cut_off_is_no_job(site):
    with pytest.raises(ContractError, match="cut off"):
        site.only("job", site.job().partition("posted-time-ago__text")[0])


def test_another_job_is_no_answer(site):
    with pytest.raises(ContractError, match="another job: 4400000002"):
        site.parsed("job", site.job("4400000002"), job="4400000001")


@pytest.mark.parametrize("body", ["", "x", "<p>Gone</p>", '<h2 class="topcard__title">Potter</h2>'])
def test_other_pages_are_no_job(site, body):
    with pytest.raises(ContractError):
        site.parsed("job", body)
