// Files of a message: chosen, pasted or dropped. The form sends them; without this script it has its field for files.
const find = (target) => target.closest?.('form')?.querySelector('[type=file]');
const chosen = new WeakMap();

function add(input, files) {
  set(input, [...(chosen.get(input) ?? []), ...files]);
}

/** Tells the form what is wrong with its files, and returns it. */
function check(input) {
  const { maxFiles, maxBytes } = input.dataset;
  const large = [...input.files].find(({ size }) => size > maxBytes);
  const count = input.files.length + input.form.querySelectorAll('.file-list :checked').length;
  const wrong = large ? `${large.name} is too large.` : count > maxFiles ? `At most ${maxFiles} files.` : '';
  input.setCustomValidity(wrong);
  return wrong;
}

function set(input, files) {
  const all = new DataTransfer();
  for (const file of files) all.items.add(file);
  input.files = all.files;
  chosen.set(input, files);
  const wrong = check(input);
  input.form.querySelector('.chosen-files').replaceChildren(
    ...files.map((file) => {
      const line = document.createElement('li');
      const remove = document.createElement('button');
      remove.type = 'button';
      remove.textContent = '×';
      remove.ariaLabel = `Remove ${file.name}`;
      remove.addEventListener('click', () => {
        set(
          input,
          files.filter((other) => other !== file),
        );
        input.focus();
      });
      line.append(file.name, remove);
      return line;
    }),
  );
  if (wrong) input.reportValidity();
}

addEventListener('change', ({ target }) => {
  if (target.dataset.maxFiles) add(target, target.files);
  else if (target.closest('.file-list')) check(find(target));
});

function receive(event, data) {
  const input = find(event.target);
  // Copied text of a word processor comes with a picture of it.
  if (!input || !data.files.length || data.types.includes('text/plain')) return;
  event.preventDefault();
  add(input, data.files);
}

addEventListener('paste', (event) => receive(event, event.clipboardData));
addEventListener('drop', (event) => receive(event, event.dataTransfer));
addEventListener('dragover', (event) => {
  if (find(event.target) && event.dataTransfer.types.includes('Files')) event.preventDefault();
});

// A preview and a reply do not need them.
addEventListener('turbo:before-fetch-request', ({ detail: { fetchOptions } }) => {
  if (fetchOptions.headers['Turbo-Frame'] && fetchOptions.body instanceof FormData)
    fetchOptions.body.delete('files');
});
