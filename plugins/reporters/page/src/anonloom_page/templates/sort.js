// Lets the comparison be sorted by any column. Without it the table is complete, only unsorted.
(function () {
  var table = document.getElementById("compare");
  if (!table) return;
  var body = table.tBodies[0];
  var heads = table.tHead.rows[1].cells;
  Array.prototype.forEach.call(heads, function (head, column) {
    var button = document.createElement("button");
    button.type = "button";
    while (head.firstChild) button.appendChild(head.firstChild);
    head.appendChild(button);
    button.addEventListener("click", function () {
      var down = head.getAttribute("aria-sort") === "ascending";
      Array.prototype.forEach.call(heads, function (other) { other.removeAttribute("aria-sort"); });
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      var rows = Array.prototype.slice.call(body.rows);
      var key = function (row) {
        var cell = row.cells[column];
        if (!cell) return null;
        var number = cell.getAttribute("data-v");
        return number === null ? cell.textContent : parseFloat(number);
      };
      rows.sort(function (a, b) {
        var x = key(a), y = key(b), order;
        // Rows without a number stay at the end, whichever way the others go.
        var xs = typeof x === "number", ys = typeof y === "number";
        if (xs !== ys) return xs ? -1 : 1;
        order = xs ? x - y : String(x).localeCompare(String(y));
        return down ? -order : order;
      });
      rows.forEach(function (row) { body.appendChild(row); });
    });
  });
})();
