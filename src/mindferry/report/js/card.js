// The small card beside what is hovered over or stepped to.
function showCard(anchor, children) {
  const card = byId("card");
  card.replaceChildren(...children.filter(Boolean));
  card.hidden = false;
  const box = anchor.getBoundingClientRect();
  const width = card.offsetWidth, height = card.offsetHeight;
  card.style.left = `${Math.max(8, Math.min(box.left, innerWidth - width - 8))}px`;
  card.style.top = `${box.bottom + height + 12 < innerHeight ? box.bottom + 6 : Math.max(8, box.top - height - 6)}px`;
}
function hideCard() { byId("card").hidden = true; }
addEventListener("scroll", hideCard, { passive: true });
