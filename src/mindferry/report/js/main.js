// Starts the page: theme, tabs, printing, and reloading while it is watched.
setTheme(recall("theme"));
drawTabs();
drawHelp();
byId("theme").addEventListener("click", nextTheme);
byId("keys").addEventListener("click", () => byId("help").showModal());
addEventListener("hashchange", follow);
follow();

// On paper every tab follows the other, with all rows that the tables hold.
addEventListener("beforeprint", () => {
  for (const [tab] of TABS) {
    ensure(tab);
    views[tab].show?.("");
    if (tab === "code" && report.files.length) byId(tab).append(views.code.paper());
  }
  for (const rows of Rows.all) rows.onPaper(true);
});

addEventListener("afterprint", () => {
  for (const sheets of document.querySelectorAll(".paper")) sheets.remove();
  for (const rows of Rows.all) rows.onPaper(false);
  follow();
});

// While `mindferry report --watch` runs, it leaves a number beside this page; another number means another page.
if (report.watch) {
  const kept = sessionStorage.getItem("mindferry-scroll");
  if (kept) requestAnimationFrame(() => scrollTo(0, Number(kept)));
  window.mindferryStamp = (stamp) => {
    if (stamp === report.watch.stamp) return;
    sessionStorage.setItem("mindferry-scroll", String(scrollY));
    location.reload();
  };
  setInterval(() => {
    const probe = el("script", { src: `${report.watch.probe}?${Date.now()}` });
    probe.addEventListener("load", () => probe.remove());
    probe.addEventListener("error", () => probe.remove());
    document.head.append(probe);
  }, 1000);
}
