// What the page does beyond links and forms: keys, windows that fill as one scrolls, the palette, the
// theme, and lines that come in. Without it everything can still be read.
"use strict";
(() => {
  const $ = (selector, root = document) => root.querySelector(selector);
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const base = document.body.dataset.base || "";
  const view = $("#view");
  const rows = $("#rows");
  // The server's answers are pages of its own making; nothing else becomes markup here.
  const policy = window.trustedTypes?.createPolicy("pi-sessions", { createHTML: (text) => text });
  const parse = (text) => {
    const made = document.createElement("template");
    made.innerHTML = policy ? policy.createHTML(text) : text;
    return made.content;
  };
  const say = (text) => { $("#say").textContent = text; };
  // Whoever can show an address on this page does; else the browser loads it.
  const visit = (address) => {
    if (document.dispatchEvent(new CustomEvent("visit", { detail: address, cancelable: true }))) location.assign(address);
  };

  async function part(address, name) {
    const url = new URL(address, location.href);
    url.searchParams.set("part", name);
    url.hash = "";
    const answer = await fetch(url, { headers: { accept: "text/html" } });
    if (!answer.ok) throw new Error(`${answer.status}`);
    return parse(await answer.text());
  }

  // Rows come and go as one scrolls; what is far away is taken off the page again.
  const MOST = 2600;
  const size = (node) => node.getElementsByTagName("*").length + 1;

  function edgeOf(where) { return $(`[data-edge="${where}"]`, rows); }

  function trim(from) {
    const items = all(":scope > .row, :scope > .cut", rows);
    let total = items.reduce((sum, item) => sum + size(item), 0);
    if (total <= MOST) return;
    const order = from === "top" ? items : [...items].reverse();
    let cut = null;
    for (const item of order) {
      if (total <= MOST || item === document.activeElement || item.contains(document.activeElement)) break;
      total -= size(item);
      if (item.classList.contains("row")) cut = item;
      item.remove();
    }
    if (!cut) return;
    const lines = items.filter((item) => item.isConnected && item.classList.contains("row"));
    const span = (item) => {
      const fold = $("[data-first]", item);
      return fold ? [Number(fold.dataset.first), Number(fold.dataset.last)] : [Number(item.dataset.line), Number(item.dataset.line)];
    };
    const first = span(lines[0])[0];
    const last = span(lines[lines.length - 1])[1];
    const where = from === "top" ? "before" : "after";
    let edge = edgeOf(where);
    if (!edge) {
      edge = document.createElement("a");
      edge.className = "edge";
      edge.dataset.edge = where;
      if (from === "top") rows.prepend(edge); else rows.append(edge);
      watch(edge);
    }
    const url = new URL(location.href);
    url.search = "";
    url.searchParams.set("show", shown());
    if (from === "top") url.searchParams.set("to", first - 1); else url.searchParams.set("from", last + 1);
    edge.href = url.pathname + url.search;
    const count = from === "top" ? first - 1 : Number(document.body.dataset.lines) - last;
    edge.textContent = `${count.toLocaleString("en")} ${count === 1 ? "line" : "lines"} ${from === "top" ? "above" : "below"}`;
  }

  const shown = () => new URL(location.href).searchParams.get("show") || "scn";
  let busy = false;

  async function fill(edge) {
    if (busy || !edge.isConnected) return;
    busy = true;
    try {
      const where = edge.dataset.edge;
      const more = await part(edge.href, "rows");
      const others = all("[data-edge]", more);
      for (const other of others) if (other.dataset.edge !== where) other.remove();
      const known = new Set(all(".row", rows).map((row) => row.id));
      for (const row of all(".row", more)) if (known.has(row.id)) row.remove();
      const anchor = where === "before" ? edge.nextElementSibling : null;
      const before = anchor ? anchor.getBoundingClientRect().top : 0;
      const added = [...more.children];
      edge.replaceWith(...added);
      if (anchor) window.scrollBy(0, anchor.getBoundingClientRect().top - before);
      const hold = anchor || added[0];
      const at = hold?.isConnected ? hold.getBoundingClientRect().top : 0;
      trim(where === "before" ? "bottom" : "top");
      if (!anchor && hold?.isConnected) window.scrollBy(0, hold.getBoundingClientRect().top - at);
      for (const next of all("[data-edge]", rows)) watch(next);
      copies(rows);
      document.dispatchEvent(new CustomEvent("filled"));
    } catch { /* the edge stays, and is a link */ } finally { busy = false; }
  }

  const near = "IntersectionObserver" in window
    ? new IntersectionObserver((seen) => { for (const each of seen) if (each.isIntersecting) fill(each.target); }, { rootMargin: "600px" })
    : null;
  function watch(edge) { near?.unobserve(edge); near?.observe(edge); }

  // The tree and the blocks of a request: more of them on a click.
  async function more(link, name, into) {
    const top = link.getBoundingClientRect().top;
    const scroller = link.closest(".tree, .saw");
    into.replaceChildren(...(await part(link.href, name)).childNodes);
    if (scroller && name === "tree") scroller.scrollTop += 0 * top;
  }

  document.addEventListener("click", async (event) => {
    if (event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    const column = event.target.closest("[data-go]");
    if (column) return visit(column.dataset.go);
    const link = event.target.closest("a, button");
    if (!link) return;
    if (link.dataset.do === "theme") return theme();
    if (link.dataset.do === "copy") return copy(link);
    if (link.dataset.step || (link.href && link.classList.contains("ask"))) { event.preventDefault(); return visit(link.href); }
    if (link.dataset.edge) { event.preventDefault(); return fill(link); }
    if (link.dataset.tree) { event.preventDefault(); return more(link, "tree", link.closest("details")).catch(() => location.assign(link.href)); }
    if (link.dataset.blocks) { event.preventDefault(); return more(link, "blocks", $("#blocks")).catch(() => location.assign(link.href)); }
    const first = link.dataset.first;
    if (first) {
      event.preventDefault();
      try {
        const made = await part(link.href, "rows");
        const last = Number(link.dataset.last);
        const found = all(".row", made).filter((row) => Number(row.dataset.line) >= Number(first) && Number(row.dataset.line) <= last);
        if (!found.length) return location.assign(link.href);
        const left = Number(found[found.length - 1].dataset.line);
        const fold = link.closest(".row");
        if (left < last) {
          link.dataset.first = left + 1;
          const url = new URL(link.href);
          url.searchParams.set("from", left + 1);
          url.searchParams.set("open", left + 1);
          url.hash = `L${left + 1}`;
          link.href = url;
          link.textContent = `▸ ${(last - left).toLocaleString("en")} more`;
          fold.before(...found);
        } else fold.replaceWith(...found);
        found[0].tabIndex = -1;
        found[0].focus({ preventScroll: true });
      } catch { location.assign(link.href); }
      return;
    }
    // A line that is on the page already is scrolled to; the page stays as it is.
    const to = link.hash?.match(/^#L(\d+)$/);
    if (to && rows && link.origin === location.origin && samePoint(link)) {
      const row = document.getElementById(`L${to[1]}`);
      if (row) { event.preventDefault(); go(row); history.replaceState(null, "", link.href); }
    }
  });

  const samePoint = (link) => new URL(link.href).pathname === location.pathname;

  function go(row) {
    for (const each of all(".here", rows)) each.classList.remove("here");
    row.classList.add("here");
    row.tabIndex = -1;
    row.scrollIntoView({ block: "center" });
    row.focus({ preventScroll: true });
    for (const each of all(".t[aria-current]")) each.removeAttribute("aria-current");
    $(`.t[data-line="${row.dataset.line}"]`)?.setAttribute("aria-current", "true");
  }

  // Keys
  function step(by) {
    const items = all(":scope > .row", rows);
    const top = (view ? 120 : 0);
    const here = items.findIndex((item) => item.classList.contains("here"));
    const from = here >= 0 ? here : items.findIndex((item) => item.getBoundingClientRect().bottom > top) - (by > 0 ? 1 : 0);
    const next = items[Math.min(Math.max(from + by, 0), items.length - 1)];
    if (next) go(next);
  }

  const KEYS = [
    ["j, k", "next line, line before"],
    ["← →", "reply before, reply after; in raw lines and lists the page before and after"],
    ["w", "what the model saw at the line"],
    ["r", "the line as it is stored"],
    ["c, y", "copy what the line says, copy its address"],
    ["g, G", "first line, last line"],
    ["t", "tree"],
    ["Ctrl K, /", "search"],
    ["d", "dark or light"],
    ["?", "these keys"],
  ];

  document.addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") { event.preventDefault(); return palette(); }
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const target = event.target;
    if (target.closest("input, select, textarea, dialog")) return;
    const inTree = target.closest('[role="tree"]');
    const does = {
      j: () => rows && step(1),
      k: () => rows && step(-1),
      w: () => press($(".here .ask[href], [aria-current] .ask[href]", rows || document)),
      r: () => press($(".here a.ln, [aria-current] a.ln", rows || document)),
      g: () => rows && location.assign(`${location.pathname}?line=1#L1`),
      G: () => rows && location.assign(`${location.pathname}?line=${document.body.dataset.lines}#L${document.body.dataset.lines}`),
      t: () => ($(".t[aria-current]") || all(".t").pop())?.focus(),
      d: theme,
      "/": palette,
      "?": keys,
      ArrowLeft: () => turn("previous"),
      ArrowRight: () => turn("following"),
      ArrowDown: () => inTree && along(1),
      ArrowUp: () => inTree && along(-1),
    }[event.key];
    if (!does) return;
    if (event.key.startsWith("Arrow") && !inTree && /Up|Down/.test(event.key)) return;
    if (does() !== false) event.preventDefault();
  });

  function along(by) {
    const items = all(".t");
    items[Math.min(Math.max(items.indexOf(document.activeElement) + by, 0), items.length - 1)]?.focus();
  }
  const press = (link) => (link ? link.click() : false);
  function turn(which) {
    const link = $(`[data-step="${which}"]`);
    const address = link?.href || (view && (view.dataset[which] || (which === "previous" && view.dataset.last)));
    if (!address) return false;
    visit(address);
    return true;
  }

  // Dialogs
  function dialog(name, label) {
    $("dialog")?.remove();
    const made = document.createElement("dialog");
    made.className = name;
    made.setAttribute("aria-label", label);
    made.addEventListener("close", () => made.remove());
    made.addEventListener("click", (event) => { if (event.target === made) made.close(); });
    document.body.append(made);
    return made;
  }
  const element = (name, text, attributes = {}) => {
    const made = document.createElement(name);
    if (text) made.textContent = text;
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    return made;
  };

  function keys() {
    const made = dialog("keys", "Keys");
    made.append(element("h2", "Keys"));
    const list = element("dl");
    for (const [key, told] of KEYS) {
      const name = element("dt");
      name.append(element("kbd", key));
      list.append(name, element("dd", told));
    }
    const close = element("button", "Close", { type: "button" });
    close.addEventListener("click", () => made.close());
    made.append(list, close);
    made.showModal();
  }

  function palette() {
    const made = dialog("palette", "Search sessions and lines");
    const input = element("input", "", { type: "search", placeholder: "Search sessions and lines", "aria-label": "Search sessions and lines", maxlength: "400", role: "combobox", "aria-expanded": "true", "aria-controls": "found", autocomplete: "off" });
    const list = element("ul", "", { id: "found", role: "listbox", "aria-label": "Found" });
    const told = element("p", "Enter looks through all sessions.", { class: "empty", role: "status" });
    made.append(input, list, told);
    let waiting = 0;
    let asked = 0;
    const items = () => all("li", list);
    const choose = (item) => {
      for (const each of items()) each.setAttribute("aria-selected", each === item);
      if (item) { input.setAttribute("aria-activedescendant", item.id); item.scrollIntoView({ block: "nearest" }); }
    };
    const look = async () => {
      const text = input.value.trim();
      const mine = ++asked;
      if (!text) { list.replaceChildren(); return; }
      try {
        const url = new URL("/search", location.origin);
        url.searchParams.set("q", text);
        url.searchParams.set("part", "json");
        if (base) url.searchParams.set("in", decodeURIComponent(base.split("/")[2]));
        const found = await (await fetch(url)).json();
        if (mine !== asked) return;
        const number = /^\d+$/.test(text) && base && Number(text) >= 1 && Number(text) <= Number(document.body.dataset.lines)
          ? [{ name: `Line ${text}`, small: "go there", url: `${base}?line=${text}#L${text}` }] : [];
        const entries = [
          ...number,
          ...found.lines.map((each) => ({ name: each.excerpt, small: `line ${each.line} · ${each.who}`, url: each.url })),
          ...found.sessions.map((each) => ({ name: each.title, small: `session · ${each.cwd}`, url: each.url })),
        ];
        list.replaceChildren(...entries.map((each, place) => {
          const item = element("li", "", { role: "option", id: `found-${place}`, "aria-selected": "false" });
          item.append(element("span", each.name), element("br"), element("small", each.small));
          item.dataset.url = each.url;
          item.addEventListener("click", () => { location.assign(each.url); made.close(); });
          return item;
        }));
        told.textContent = entries.length ? "Enter opens it; Shift Enter looks through all sessions." : "Nothing here; Enter looks through all sessions.";
        choose(items()[0]);
      } catch { told.textContent = "The search gave no answer."; }
    };
    input.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(look, 120); });
    input.addEventListener("keydown", (event) => {
      const now = items().findIndex((item) => item.getAttribute("aria-selected") === "true");
      if (event.key === "ArrowDown" || event.key === "ArrowUp") {
        event.preventDefault();
        choose(items()[Math.min(Math.max(now + (event.key === "ArrowDown" ? 1 : -1), 0), items().length - 1)]);
      } else if (event.key === "Enter") {
        event.preventDefault();
        const url = event.shiftKey ? null : items()[now]?.dataset.url;
        location.assign(url || `/search?q=${encodeURIComponent(input.value)}`);
        made.close();
      }
    });
    made.showModal();
    input.focus();
  }
  $(".find input")?.addEventListener("focus", (event) => { if (event.target.matches(":focus-visible") && event.sourceCapabilities) { event.target.blur(); palette(); } });

  function theme() {
    const root = document.documentElement;
    const dark = root.dataset.theme === "auto" ? matchMedia("(prefers-color-scheme: dark)").matches : root.dataset.theme === "dark";
    root.dataset.theme = dark ? "light" : "dark";
    document.cookie = `pi_sessions_theme=${root.dataset.theme}; path=/; max-age=31536000; samesite=strict`;
    say(`${root.dataset.theme} theme`);
  }

  // Commands have a button that copies them.
  function copies(root) {
    for (const command of all(".cmd", root)) {
      if ($("button", command) || !navigator.clipboard) continue;
      command.append(element("button", "Copy", { type: "button", "data-do": "copy" }));
    }
  }
  async function copy(button) {
    try {
      await navigator.clipboard.writeText($("code", button.parentElement).textContent);
      button.textContent = "Copied";
    } catch { button.textContent = "Not copied"; }
    say(button.textContent);
  }
  copies(document);

  document.addEventListener("change", (event) => {
    if (event.target.id === "slider") visit(`${base}/reply?n=${event.target.value}`);
  });

  // Where there is one column, what the model saw comes first.
  function stand(row) {
    const isNarrow = matchMedia("(max-width: 900px)").matches;
    if (isNarrow && $(".saw")) $(".saw").scrollIntoView();
    else row.scrollIntoView({ block: "center" });
  }

  // The place in the tree and in the transcript
  if (rows) {
    for (const edge of all("[data-edge]", rows)) watch(edge);
    const wanted = location.hash.match(/^#L\d+$/) && document.getElementById(location.hash.slice(1));
    const now = $('.row[aria-current="true"]', rows);
    if (wanted) go(wanted);
    else if (now) stand(now);
    else if (!new URL(location.href).searchParams.has("from")) window.scrollTo(0, document.body.scrollHeight);
    const marked = $(".t[aria-current]");
    const side = $(".tree");
    if (marked && side) side.scrollTop = marked.offsetTop - side.clientHeight / 2;
  }

  // A session that is being written grows on the page, and nothing that stands there moves.
  if (base && rows && "EventSource" in window) {
    const atPoint = () => /\/at\//.test(location.pathname);
    const events = new EventSource(`${base}/live`);
    let known = Number(document.body.dataset.lines);
    events.onmessage = async (event) => {
      const now = JSON.parse(event.data);
      if (now.gone || now.lines === known) return;
      if (now.lines < known) { location.reload(); return; }
      const first = known + 1;
      known = now.lines;
      document.body.dataset.lines = known;
      document.dispatchEvent(new CustomEvent("grown"));
      if (atPoint() || edgeOf("after")) return came(known, first);
      const atEnd = window.innerHeight + window.scrollY > document.body.scrollHeight - 160;
      try {
        const url = new URL(`${location.pathname}?show=${shown()}&from=${first}`, location.origin);
        const more = await part(url, "rows");
        for (const edge of all('[data-edge="before"]', more)) edge.remove();
        const there = new Set(all(".row", rows).map((row) => row.id));
        for (const row of all(".row", more)) if (there.has(row.id)) row.remove();
        rows.append(...more.children);
        for (const edge of all("[data-edge]", rows)) watch(edge);
        await counter();
        say(`${known - first + 1} new`);
        if (atEnd) { trim("top"); window.scrollTo(0, document.body.scrollHeight); } else came(known, first);
      } catch { came(known, first); }
    };
    window.addEventListener("pagehide", () => events.close());
  }
  async function counter() {
    const made = await part(location.href.split("#")[0], "count");
    const count = $(".count", made);
    if (count) $(".count").replaceWith(count);
  }
  function came(known, first) {
    const count = known - first + 1;
    let link = $(".came");
    if (!link) {
      link = element("a", "", { class: "came" });
      $("#main").append(link);
      link.dataset.first = "";
      delete link.dataset.first;
      link.dataset.from = first;
    }
    const total = known - Number(link.dataset.from) + 1;
    link.textContent = `${total} new ${total === 1 ? "line" : "lines"} below`;
    link.href = `${base}?line=${known}#L${known}`;
    say(`${count} new`);
  }
  window.page = { $, all, stand, base, view, rows, part, parse, say, visit, watch, copies, element };
})();
