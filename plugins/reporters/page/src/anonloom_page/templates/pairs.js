// Lets the reader choose which risk is shown against which utility. Without it the first is shown.
(function () {
  var box = document.getElementById("pairs");
  if (!box) return;
  var parts = Array.prototype.slice.call(box.querySelectorAll("[data-x]"));
  if (parts.length < 2) return;
  var bar = document.createElement("div");
  bar.className = "choose";
  var choice = function (text, key) {
    var label = document.createElement("label"), select = document.createElement("select");
    label.appendChild(document.createTextNode(text + " "));
    parts.map(function (part) { return part.getAttribute(key); })
      .filter(function (name, at, all) { return all.indexOf(name) === at; })
      .forEach(function (name) {
        var option = document.createElement("option");
        option.value = option.textContent = name;
        select.appendChild(option);
      });
    select.addEventListener("change", show);
    label.appendChild(select);
    bar.appendChild(label);
    return select;
  };
  var show = function () {
    parts.forEach(function (part) {
      part.hidden = part.getAttribute("data-x") !== x.value || part.getAttribute("data-y") !== y.value;
    });
  };
  var y = choice("risk", "data-y"), x = choice("utility", "data-x");
  box.insertBefore(bar, box.firstChild);
})();
