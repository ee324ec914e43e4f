import { expect, test } from 'vitest';
import { useSharedService } from '../../../support/service.ts';
import { createOrganizationOf, findFieldError, readFormFields, signInPerson } from '../signed-in-person.ts';
import { findForm } from '../../../clients/form-browser.ts';

const service = useSharedService();

const account = '/console/account';

async function directory(q: string) {
  const { token } = await service.agent({ scopes: ['agents:read'] });
  const { body } = await service.get({ token }, `/search/directory?q=${q}`);
  return body as { people: { username: string }[]; organizations: { slug: string }[] };
}

const findPerson = async (name: string) =>
  (await directory(name)).people.find(({ username }) => username === name);

test('a person chooses a display name, which the directory shows beside the username', async () => {
  const ada = await signInPerson(service);
  await ada.agent('desk', { visibility: 'public' });
  const save = async (display_name: string) =>
    ada.send(findForm(await ada.go(account), `${account}/name`), { fields: { display_name } });
  const shown = () => findPerson(ada.username);
  const { username } = ada;
  expect(await shown()).toEqual({ username, display_name: username });
  expect((await save('  Ada \u202e\u0007 King  ')).visibleText).toContain('Name saved.');
  expect(await shown()).toEqual({ username, display_name: 'Ada King' });
  expect(readFormFields(await ada.go(account), `${account}/name`)['display_name']).toBe('Ada King');
  await save(username.toUpperCase());
  expect(await shown()).toEqual({ username, display_name: username.toUpperCase() });
  await save(' \u200b ');
  expect(await shown()).toEqual({ username, display_name: username });
});

test('a display name cannot be that of another owner, look like a handle, or be too long', async () => {
  const [ada, bob] = [await signInPerson(service), await signInPerson(service)];
  await ada.agent('desk', { visibility: 'public' });
  const slug = await createOrganizationOf(service, { admins: [bob], members: [] });
  const first = bob.username.slice(0, 1);
  const spoofs = [
    bob.username,
    ` ${bob.username.toUpperCase()} `,
    `${first}\u200b${bob.username.slice(1)}`,
    slug,
    `${bob.username}.desk`,
    `@${bob.username}`,
    'Ada (@bob)',
    'x'.repeat(101),
    'x'.repeat(10_000),
  ];
  for (const display_name of spoofs) {
    const page = await ada.send(findForm(await ada.go(account), `${account}/name`), {
      fields: { display_name },
    });
    expect([page.status, findFieldError(page, 'display_name')], display_name.slice(0, 40)).toEqual([
      400,
      expect.stringMatching(/another account or organization|like a handle|at most 100 characters/),
    ]);
  }
  const { username } = ada;
  expect(await findPerson(username)).toEqual({ username, display_name: username });
});

test('admins choose the name of an organization; members cannot', async () => {
  const [boss, worker] = [await signInPerson(service), await signInPerson(service)];
  const slug = await createOrganizationOf(service, { admins: [boss], members: [worker] });
  const address = `/console/organizations/${slug}`;
  const form = findForm(await boss.go(address), `${address}/name`);
  const saved = await boss.send(form, { fields: { display_name: 'Acme Corporation' } });
  expect(saved.visibleText).toContain(`Acme Corporation (${slug})`);
  expect((await worker.go(address)).forms.some(({ action }) => action === `${address}/name`)).toBe(false);
  const refused = await worker.send(form, { fields: { display_name: 'Mine' } });
  expect(refused.status).toBe(403);
  await service.register({ handle: `${slug}.desk`, visibility: 'public' });
  expect((await directory(slug)).organizations).toContainEqual({ slug, name: 'Acme Corporation' });
});
