// From reply to reply without loading the page anew: the next ones are asked for before they are wanted,
// what stands open stays open, and the line one looks at stays where it is. Without it links do the same.
"use strict";
(() => {
  const page = window.page;
  if (!page) return;
  const { $, all, base, view, rows, parse, say, visit, watch, copies, element } = page;

  // What was opened or closed, by its place: for this tab, and for this session.
  const name = `open ${base}`;
  const kept = new Map(JSON.parse(sessionStorage.getItem(name) || "[]"));
  const keyOf = (fold) => {
    const row = fold.closest(".row");
    if (row) return `${row.id} ${all("details", row).indexOf(fold)}`;
    const kind = fold.className || $(".swatch", fold)?.className;
    return fold.closest(".saw, .tree") && kind ? kind : "";
  };
  document.addEventListener("toggle", (event) => {
    const key = keyOf(event.target);
    if (!key) return;
    kept.delete(key);
    kept.set(key, event.target.open);
    while (kept.size > 400) kept.delete(kept.keys().next().value);
    sessionStorage.setItem(name, JSON.stringify([...kept]));
  }, true);
  function reopen() {
    if (!base) return;
    for (const fold of all("details")) {
      const is = kept.get(keyOf(fold));
      if (is !== undefined && fold.open !== is) fold.open = is;
    }
  }
  document.addEventListener("filled", reopen);

  // Pages that were fetched, or are on their way; forgotten when the session grows.
  const pages = new Map();
  function take(address) {
    const url = new URL(address, location.href);
    url.hash = "";
    if (!pages.has(url.href)) {
      const asked = new URL(url);
      asked.searchParams.set("part", "step");
      const wanted = fetch(asked, { headers: { accept: "text/html" } }).then(async (answer) => {
        if (!answer.ok) throw new Error(`${answer.status}`);
        const told = new URL(answer.url);
        told.searchParams.delete("part");
        return { url: told.href, text: await answer.text() };
      });
      wanted.catch(() => pages.delete(url.href));
      pages.set(url.href, wanted);
      while (pages.size > 8) pages.delete(pages.keys().next().value);
    }
    return pages.get(url.href);
  }
  document.addEventListener("grown", () => pages.clear());

  let resting = 0;
  function ahead() {
    clearTimeout(resting);
    if (!view?.classList.contains("three")) return;
    resting = setTimeout(() => {
      for (const which of ["following", "previous"]) if (view.dataset[which]) take(view.dataset[which]).catch(() => {});
    }, 60);
  }

  const isMine = (url) => {
    const inside = url.pathname.slice(base.length);
    return rows && url.origin === location.origin && url.pathname.startsWith(base) && (inside === "" || /^\/(at|next|reply)(\/|$)/.test(inside));
  };

  let turn = 0;
  async function open(address, { isBack = false } = {}) {
    const mine = ++turn;
    const { url, text } = await take(address);
    if (mine !== turn) return;
    const made = parse(text);
    if (!$("#view", made) || !$("#rows", made)) { location.assign(address); return; }
    const now = $('.row[aria-current="true"]', rows);
    const place = now?.getBoundingClientRect().top;
    const isSeen = now && place > 0 && place < innerHeight - 60;
    if (!isBack) history.pushState({}, "", url + new URL(address, location.href).hash);
    put(made);
    reopen();
    const row = $('.row[aria-current="true"]', rows);
    if (row && isSeen) window.scrollBy(0, row.getBoundingClientRect().top - place);
    else if (row) page.stand(row);
    else window.scrollTo(0, document.body.scrollHeight);
    const marked = $(".t[aria-current]");
    const side = $(".tree");
    if (marked && side) side.scrollTop = marked.offsetTop - side.clientHeight / 2;
    say($(".steps .num")?.textContent || document.title);
    ahead();
  }

  /** Makes the children of an element those of another; what is the same stays and is not laid out anew. */
  function become(parent, other) {
    const wanted = [...other.children].map((child) => {
      const named = child.id ? document.getElementById(child.id) : child.dataset.line && $(`:scope > [data-line="${child.dataset.line}"]`, parent);
      return named && named.parentElement === parent && named.isEqualNode(child) ? named : child;
    });
    const stay = new Set(wanted);
    for (const child of [...parent.childNodes]) if (!stay.has(child)) child.remove();
    let cursor = parent.firstChild;
    for (const child of wanted) {
      if (child === cursor) cursor = cursor.nextSibling;
      else parent.insertBefore(child, cursor);
    }
  }

  /** Puts the parts of a page in the place of those that stand; what has the focus keeps it. */
  function put(made) {
    const focus = document.activeElement;
    const [step, id] = [focus?.dataset?.step, focus?.id];
    const next = $("#view", made);
    view.className = next.className;
    for (const key of ["previous", "following", "last"]) view.dataset[key] = next.dataset[key];
    document.body.dataset.lines = next.dataset.lines;
    document.title = $("title", made)?.textContent || document.title;
    $(".tabs").replaceWith($(".tabs", made));
    $(".count").replaceWith($(".count", made));
    own.remove();
    for (const row of all(".here", rows)) { row.classList.remove("here"); row.removeAttribute("tabindex"); }
    const [tree, other] = [$('[role="tree"]'), $('[role="tree"]', made)];
    const edges = ".tree .edge";
    for (const edge of all(edges)) edge.remove();
    become(tree, other);
    for (const edge of all(edges, made)) if (edge.dataset.tree === "before") tree.before(edge); else tree.after(edge);
    become(rows, $("#rows", made));
    const [panel, asked] = [$(".saw"), $(".saw", made)];
    if (panel && asked) panel.replaceChildren(...asked.childNodes);
    else if (panel) panel.remove();
    else if (asked) view.append(asked);
    mark(Number(next.dataset.place));
    for (const edge of all("[data-edge]", rows)) watch(edge);
    copies(document);
    $(".came")?.remove();
    const again = step ? $(`[data-step="${step}"]`) || $("[data-step]") : id === "slider" ? $("#slider") : null;
    again?.focus({ preventScroll: true });
  }

  /** Moves the mark in the strip to a reply; the picture itself is the same at every point. */
  function mark(place) {
    const slider = $("#slider");
    if (!slider) return;
    const share = (place - 0.5) / slider.max;
    const now = $("#strip .now");
    if (place) now.setAttribute("d", `M${(1200 * share).toFixed(1)} 0V66`);
    now.toggleAttribute("hidden", !place);
    slider.value = place || slider.max;
    tell("");
  }

  document.addEventListener("visit", (event) => {
    const url = new URL(event.detail, location.href);
    if (!isMine(url)) return;
    event.preventDefault();
    open(event.detail).catch(() => location.assign(event.detail));
  });
  let shown = location.pathname + location.search;
  window.addEventListener("popstate", () => {
    // A change of the hash alone is a line of this page.
    if (shown === location.pathname + location.search) return;
    if (rows) open(location.href, { isBack: true }).catch(() => location.reload());
  });
  const remember = history.pushState.bind(history);
  history.pushState = (...words) => { remember(...words); shown = location.pathname + location.search; };

  // The strip: what is under the pointer is told, and a drag goes where it ends.
  let from = null;
  const column = (event) => event.target.closest?.("#strip [data-go]");
  const tell = (text) => {
    const told = $("#strip [data-told]");
    if (!told) return;
    told.dataset.told ||= told.textContent;
    told.textContent = text || told.dataset.told;
  };
  document.addEventListener("pointermove", (event) => {
    const over = column(event);
    if (over) tell(over.dataset.said);
  });
  document.addEventListener("pointerout", (event) => {
    if (column(event) && !event.relatedTarget?.closest?.("#strip svg")) tell("");
  });
  document.addEventListener("pointerdown", (event) => { from = event.button ? null : column(event); });
  document.addEventListener("pointerup", (event) => {
    const to = column(event);
    if (from && to && to !== from) visit(to.dataset.go);
    from = null;
  });
  document.addEventListener("input", (event) => {
    if (event.target.id !== "slider") return;
    const slider = event.target;
    const share = (slider.value - 0.5) / slider.max;
    const columns = all("#strip [data-go]");
    const over = columns[Math.min(Math.floor(share * columns.length), columns.length - 1)];
    tell(over ? `reply ${Number(slider.value).toLocaleString("en")} · ${over.dataset.said}` : "");
    $("#strip .now")?.setAttribute("d", `M${(1200 * share).toFixed(1)} 0V66`);
  });
  async function draw(strip) {
    const made = await page.part(strip.dataset.later, "strip");
    const drawn = $("#strip", made);
    if (drawn) strip.replaceWith(drawn);
    else strip.remove();
  }
  const later = $("#strip[data-later]");
  if (later) draw(later).catch(() => { /* the link stays */ });

  // Saw it?: a place along a bar is a reply.
  const bars = $(".sights");
  const replyAt = (event) => {
    const bar = event.target.closest?.(".span");
    if (!bar) return 0;
    const box = bar.getBoundingClientRect();
    return Math.min(Math.floor(((event.clientX - box.left) / box.width) * bars.dataset.replies) + 1, Number(bars.dataset.replies));
  };
  bars?.addEventListener("pointermove", (event) => {
    const told = $("[data-told]");
    const number = replyAt(event);
    if (number) told.textContent = `reply ${number.toLocaleString("en")} of ${Number(bars.dataset.replies).toLocaleString("en")}`;
  });
  bars?.addEventListener("click", (event) => {
    const number = replyAt(event);
    if (number) location.assign(`${base}/reply?n=${number}`);
  });

  // One pair of buttons goes to the line under the pointer, or to the one the keys stand on.
  const own = element("span", "", { class: "own" });
  const copy = element("button", "Copy", { type: "button", title: "Copy what the line says (c)" });
  const link = element("button", "Link", { type: "button", title: "Copy the address of the line (y)" });
  own.append(copy, link);
  const rowOf = (target) => target?.closest?.("#rows > .row[data-line]");
  const lend = (row) => { if (row && own.parentElement !== row) row.append(own); };
  if (rows && navigator.clipboard) {
    document.addEventListener("pointerover", (event) => lend(rowOf(event.target)));
    document.addEventListener("focusin", (event) => lend(rowOf(event.target)));
    copy.addEventListener("click", () => write(copy, own.parentElement));
    link.addEventListener("click", () => write(link, own.parentElement));
  }
  async function write(button, row) {
    const was = button === copy ? "Copy" : "Link";
    const url = new URL(location.pathname, location.href);
    url.searchParams.set("line", row.dataset.line);
    url.hash = row.id;
    const said = $(".body", row) || $(".aside", row);
    try {
      await navigator.clipboard.writeText(button === copy ? said?.textContent || "" : url.href);
      button.textContent = "Copied";
      say(`${was === "Copy" ? "Line" : "Address of line"} ${row.dataset.line} copied`);
    } catch { button.textContent = "Failed"; }
    setTimeout(() => { button.textContent = was; }, 1200);
  }
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea, dialog")) return;
    const row = $(".row.here, .row[aria-current]", rows || document);
    if (!row || !rows || !navigator.clipboard || (event.key !== "c" && event.key !== "y")) return;
    lend(row);
    write(event.key === "c" ? copy : link, row);
    event.preventDefault();
  });

  reopen();
  ahead();
})();
