// Adds a button to each text that a page offers to copy.
function addButton(text) {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'button quiet copy-button';
  button.dataset.turboTemporary = '';
  button.textContent = 'Copy';
  button.setAttribute('aria-live', 'polite');
  const report = (isCopied) => (button.textContent = isCopied ? 'Copied' : 'Selected: press Ctrl+C');
  const select = () => {
    getSelection().selectAllChildren(text);
    report(document.execCommand('copy'));
  };
  button.addEventListener('click', () => {
    // Without TLS, browsers only copy what is selected.
    if (navigator.clipboard) navigator.clipboard.writeText(text.textContent).then(() => report(true), select);
    else select();
  });
  text.after(button);
}

const addButtons = () => document.querySelectorAll('[data-copy]').forEach(addButton);
if (globalThis.Turbo) addEventListener('turbo:load', addButtons);
else addButtons();
