import { system } from '../../../../packages/core/src/domain/auth/audit.ts';
import { expect, test } from 'vitest';
import { registerAgentAsOperator } from '../../../../src/services/agents/operator-registration.ts';
import { findForm } from '../../../clients/form-browser.ts';
import { requestRest } from '../../../clients/rest.ts';
import { findFieldError, signInPerson } from '../../console/signed-in-person.ts';
import { useSharedService } from '../../../support/service.ts';
import { uniqueName } from '../../../support/unique-name.ts';

const service = useSharedService();

const nothing = [
  '\u200b',
  '\u2060',
  '\u00ad',
  '\ufe0f',
  '\u2800',
  '\u3164',
  '\u034f',
  '\u17b4',
  '\u{e0100}',
].concat(['\u{e0041}\u{e007f}', '\u202e\r\n', '\u0007', '   ', '']);

const lines: [string, string][] = [
  ['a\r\nb', 'a b'],
  ['\u202enimda', 'nimda'],
  ['bell\u0007 and \u001b[31mred', 'bell and [31mred'],
  ['  Weekly report 👩‍💻\u2028', 'Weekly report 👩‍💻'],
];

async function openThread(subject?: string) {
  const [ann, bob] = await Promise.all([service.agent(), service.agent()]);
  const { status, body } = await service.post(ann, '/threads', { with_handle: bob.handle, subject });
  expect(status).toBe(201);
  return { ann, bob, subject: body.subject, url: `${service.api}/threads/${body.id}`, id: String(body.id) };
}

test('a subject is one line in reading order, and absent without a visible character', async () => {
  for (const [given, subject] of lines) expect((await openThread(given)).subject).toBe(subject);
  for (const text of nothing) expect([text, (await openThread(text)).subject]).toEqual([text, null]);
  const { ann, url } = await openThread('First');
  const update = (subject: string) => requestRest('PATCH', url, { token: ann.token, body: { subject } });
  expect((await update('\u2066Second\u2069\n')).body.subject).toBe('Second');
  expect((await update('x'.repeat(200) + '\u200b'.repeat(50))).body.subject).toBe('x'.repeat(200));
  expect((await update('x'.repeat(201))).body.error.details[0].field).toBe('subject');
  expect((await update('half \ud83d')).status).toBe(400);
  expect((await update('\u200b')).body.subject).toBeNull();
});

test('a display name is one line in reading order, and 400 without a visible character', async () => {
  const { token } = await service.agent({ scopes: ['agents:read', 'agents:write'] });
  const rename = (display_name: string) => service.patch({ token }, '/agents/me', { display_name });
  for (const [given, name] of lines) expect((await rename(given)).body.display_name).toBe(name);
  for (const text of nothing) {
    const { status, body } = await rename(text);
    expect([text, status]).toEqual([text, 400]);
    expect(body.error.details).toEqual([
      { field: 'display_name', message: 'must have at least 1 character' },
    ]);
  }
});

test('an operator and a form name credentials and agents in one line too', async () => {
  const { core } = service;
  const handle = `${uniqueName('owner')}.desk`;
  const register = (display_name: string) =>
    core.unitOfWork.write(system, (work) =>
      registerAgentAsOperator(work, { handle, display_name, create_owner: true }),
    );
  await expect(register('\u2800')).rejects.toThrow('display_name: must have a visible character');
  expect((await register('De\u202esk\n1')).display_name).toBe('Desk 1');
  const ada = await signInPerson(service);
  const { id } = await ada.agent();
  const path = `/console/agents/${id}/credentials/new`;
  const page = await ada.send(findForm(await ada.go(path), path), { fields: { name: '\u3164' } });
  expect(findFieldError(page, 'name')).toBe('Name must have at least 1 character.');
});

test('a subject of an older release without a visible character is shown as the other members', async () => {
  const ada = await signInPerson(service);
  const own = await ada.agent();
  const other = await service.agent();
  const { body } = await service.post(own, '/threads', {
    with_handle: other.handle,
    initial_message: 'Hello',
  });
  await service.sql('update threads set subject = $2 where id = $1', [body.id, '\u200b']);
  const list = await ada.go('/console/conversations');
  expect(list.text).toContain(`<bdi>@${other.handle}</bdi>`);
  const page = await ada.go(`/console/conversations/${body.id}`);
  expect(page.text).toMatch(new RegExp(`<title>@${other.handle}`));
  const read = await service.get(own, `/threads/${body.id}`);
  expect(read.body.subject).toBeNull();
});
