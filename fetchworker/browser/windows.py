"""Scripts that keep links and forms in their page: the first request of a window would go by Chromium's own name.

What a user's click opens in a window replaces the page instead; what a script opens without one is not opened, as where
a browser blocks popups (HTML, 6.4 "Tracking user activation"; Chromium 156, 2026-11).
"""

from __future__ import annotations

#: windows of links and forms, in every browser: the headless shell opens none, and nothing would come of a click
SAME_PAGE = """(() => {
  const named = name => {
    for (let from = window; ; from = from.parent) {
      try { if (from[name]?.window === from[name] && from[name]) return true } catch { /* of another site */ }
      if (from === from.parent) return false;
    }
  };
  const opens = name => name && !/^_(self|parent|top)$/i.test(name) && (/^_blank$/i.test(name) || !named(name));
  const wanted = element => element?.getAttribute("target") ?? document.querySelector("base[target]")?.target ?? "";
  const here = (element, attribute) => {
    const before = element.getAttribute(attribute);
    element.setAttribute(attribute, "_self");
    setTimeout(() => before === null ? element.removeAttribute(attribute) : element.setAttribute(attribute, before));
  };
  const asked = event => event.isTrusted || navigator.userActivation?.isActive;
  const link = event => event.composedPath().find(
    one => one instanceof Element && /^(a|area)$/.test(one.localName) && (one.href || one.getAttribute("xlink:href")));
  const forced = event => event.ctrlKey || event.metaKey || event.shiftKey;
  const instead = (event, found) => {
    event.preventDefault();
    event.stopImmediatePropagation();
    if (asked(event)) found.dispatchEvent(new MouseEvent("click", {bubbles: true, cancelable: true, composed: true}));
  };
  addEventListener("click", event => {
    const found = link(event);
    if (!found) return;
    if (forced(event)) instead(event, found);
    else if (opens(wanted(found))) asked(event) ? here(found, "target") : event.preventDefault();
  }, true);
  addEventListener("auxclick", event => {
    const found = event.button === 1 && link(event);
    if (found) instead(event, found);
  }, true);
  addEventListener("submit", event => {
    const by = event.submitter?.hasAttribute("formtarget") ? event.submitter : null;
    const [element, attribute] = by ? [by, "formtarget"] : [event.target, "target"];
    if (!opens(by ? by.getAttribute(attribute) : wanted(element))) return;
    navigator.userActivation?.isActive ? here(element, attribute) : event.preventDefault();
  }, true);
})()"""
#: what scripts open, in a browser that would: windows, links that are in no page, forms that no event tells of
NO_WINDOWS = """(() => {
  window.open = function open() { return null };
  const {click} = HTMLElement.prototype, {submit} = HTMLFormElement.prototype;
  const stays = (element, done) => {
    const before = element.getAttribute("target");
    if (before !== null) element.setAttribute("target", "_self");
    try { return done.call(element) } finally { if (before !== null) element.setAttribute("target", before) }
  };
  HTMLElement.prototype.click = {click() {
    return this.isConnected || !(this instanceof HTMLAnchorElement) ? click.call(this) : stays(this, click);
  }}.click;
  HTMLFormElement.prototype.submit = {submit() { return stays(this, submit) }}.submit;
})()"""
