// Adds a box to each password field that shows what is entered.
for (const field of document.querySelectorAll('input[type=password]')) {
  const label = document.createElement('label');
  const box = Object.assign(document.createElement('input'), { type: 'checkbox' });
  label.className = 'hint';
  label.append(box, ' Show characters');
  const show = (isShown) => (field.type = isShown ? 'text' : 'password');
  box.addEventListener('change', () => show(box.checked));
  // Browsers offer to keep what a password field has.
  field.form.addEventListener('submit', () => show(false));
  field.after(label);
}
