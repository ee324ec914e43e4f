import { expect, test } from 'vitest';
import { findForm, foreignScripts } from '../../../clients/form-browser.ts';
import { useSharedService } from '../../../support/service.ts';
import { fillForm, type SignedInPerson, signInPerson } from '../signed-in-person.ts';

const service = useSharedService();

const path = '/console/conversations';
const saving = `${path}/views`;
const unread = `${path}?unread=true`;

const save = (person: SignedInPerson, name: string, address = unread) =>
  person.fill(address, { fields: { name } }, saving);

/** Where the saved views of a person lead, by name. */
async function listViews(person: SignedInPerson): Promise<Record<string, string>> {
  const { text } = await person.go(path);
  const views = text.matchAll(/href="\/console\/conversations\?([^"]*)"[^>]*><bdi>([^<]*)<\/bdi>/g);
  return Object.fromEntries([...views].map(([, query = '', name = '']) => [name, query]));
}

test('a person saves the filters under a name, opens them from there, removes them, and takes that back', async () => {
  const [ada, other] = [await signInPerson(service), await signInPerson(service)];
  expect((await ada.go(path)).text).not.toContain('Save view');
  const saved = await save(ada, '  For  today ', `${path}?unread=true&waiting=me&q=a+b%26c&unknown=1`);
  expect(saved.visibleText).toContain('Saved the view “For today”.');
  expect(saved.url).toContain('waiting=me');
  expect(saved.text).not.toContain('Save view');
  expect(await listViews(ada)).toEqual({ 'For today': 'waiting=me&amp;unread=true&amp;q=a+b%26c' });
  expect(await listViews(other)).toEqual({});
  const removed = await ada.send(findForm(saved, `${saving}/remove`));
  expect(removed.visibleText).toContain('Removed the view.');
  expect(await listViews(ada)).toEqual({});
  await ada.send(findForm(removed, saving), { button: 'Undo' });
  expect(Object.keys(await listViews(ada))).toEqual(['For today']);
});

test.each([
  ['no name', '  ', 'has 1 to 40 characters'],
  ['nothing visible', '\u200b\u202e', 'has 1 to 40 characters'],
  ['a long name', 'x'.repeat(41), 'has 1 to 40 characters'],
  ['the name of another one', 'MINE', 'You have a view with this name.'],
])('%s is refused', async (_, name, message) => {
  const ada = await signInPerson(service);
  await save(ada, 'Mine');
  const refused = await save(ada, name, `${path}?waiting=me`);
  expect(refused.visibleText).toContain(message);
  expect(Object.keys(await listViews(ada))).toEqual(['Mine']);
});

test('filters that do not exist are not saved', async () => {
  const ada = await signInPerson(service);
  const form = fillForm(await ada.go(path), saving, { name: 'All', query: 'status=gone&before=1.thd_1' });
  expect((await ada.send(form)).visibleText).toContain('Choose filters first.');
  const long = fillForm(await ada.go(path), saving, { name: 'Long', query: `q=${'x'.repeat(5_000)}` });
  await ada.send(long);
  expect(await listViews(ada)).toEqual({});
});

test('twenty at most, also at once', async () => {
  const ada = await signInPerson(service);
  const page = await ada.go(unread);
  const form = findForm(page, saving);
  await Promise.all(
    Array.from({ length: 22 }, (_, number) =>
      ada.send(form, { fields: { name: `View ${number}` }, follow: false }),
    ),
  );
  expect(Object.keys(await listViews(ada))).toHaveLength(20);
  expect((await save(ada, 'One more', `${path}?waiting=me`)).visibleText).toContain('You have 20 views.');
});

test('a hostile name stays text', async () => {
  const ada = await signInPerson(service);
  const name = `"><script>alert(1)</script>'`;
  const page = await save(ada, name);
  expect(page.visibleText).toContain(name);
  expect(foreignScripts(page)).toEqual([]);
});
