const copy = document.getElementById("copy"), command = document.getElementById("command");
copy.hidden = false;
copy.addEventListener("click", () => {
  getSelection().selectAllChildren(command);
  if (document.execCommand("copy")) copy.textContent = "Copied"; // which works from a file, too
});
