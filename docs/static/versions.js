// Adds a list of the versions of this documentation to the side bar, where the site has several.
// The site's own versions.js, one folder up, names them: a script, since a page on a disk may read no other file.
(() => {
  const root = document.documentElement.dataset.content_root || "./";
  const list = document.createElement("script");
  list.src = `${root}../versions.js`;
  list.onload = () => {
    const versions = window.MOSAIC_VERSIONS || [];
    const brand = document.querySelector(".sidebar-brand");
    if (versions.length === 0 || !brand) return;
    const here = new URL(root, location.href).pathname.split("/").filter(Boolean).pop();
    const select = document.createElement("select");
    select.className = "versions";
    select.setAttribute("aria-label", "Version");
    for (const version of versions.includes(here) ? versions : [here, ...versions]) {
      select.add(new Option(`Version ${version}`, version, false, version === here));
    }
    select.addEventListener("change", () => {
      location.href = `${root}../${select.value}/index.html`;
    });
    brand.after(select);
  };
  document.head.append(list);
})();
