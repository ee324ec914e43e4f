import { textContent } from 'domutils';
import { expect, test } from 'vitest';
import { a2aAddress, createA2aClient, toA2aMessage } from '../../../clients/a2a.ts';
import { findForm } from '../../../clients/form-browser.ts';
import { useSharedService } from '../../../support/service.ts';
import { clientSecretBasic, postForm, requestToken } from '../../oauth/authorization-server.ts';
import { createOrganizationOf, fillForm, type SignedInPerson, signInPerson } from '../signed-in-person.ts';

const service = useSharedService();

/** A member creates a credential for an agent of an organization, a token, a webhook and a push config; reports whether they still work. */
async function credentialAt(owner: string, who: SignedInPerson) {
  const form = '/console/agents/new';
  const fields = { name: `of-${who.username}`.slice(0, 32), display_name: 'An agent', owner };
  const made = await who.fill(form, { fields, button: 'create' });
  const address = `${new URL(made.url).pathname}/credentials/new`;
  const page = await who.fill(address, { fields: { name: 'A server' } });
  const [client_id = '', client_secret = ''] = page.elements('output').map((output) => textContent(output));
  const credential = { client_id, client_secret };
  const token = await requestToken(service, credential);
  const url = 'https://receiver.example/events';
  const { body: me } = await service.get({ token }, '/agents/me');
  const able = await service.token(me.canonical_handle, { scopes: ['agents:write'] });
  const webhook = await service.post({ token: able }, '/webhooks', { url });
  expect(webhook.status).toBe(201);
  const other = await (await signInPerson(service)).agent();
  const { result } = await createA2aClient('JSONRPC', a2aAddress(service.url, other.handle), token).call(
    'SendMessage',
    {
      message: toA2aMessage('When?'),
      configuration: { returnImmediately: true, taskPushNotificationConfig: { url } },
    },
  );
  return {
    id: me.id,
    /** Whether events of the agent, and the updates of its task, are posted to that address. */
    async posts(): Promise<[events: boolean, updates: boolean]> {
      const { webhooks, pushConfigs } = service.core.db;
      const configs = await pushConfigs.list(result.task.id);
      return [(await webhooks.find(webhook.body.id)) !== undefined, configs.length > 0];
    },
    async worth(): Promise<[token: number, another: number]> {
      const grant = { grant_type: 'client_credentials' };
      const [used, asked] = await Promise.all([
        service.get({ token }, '/agents/me'),
        postForm(`${service.url}/token`, grant, clientSecretBasic(credential)),
      ]);
      return [used.status, asked.status];
    },
  };
}

test('a removed member keeps no working credential, token, webhook or push config of an agent of the organization', async () => {
  const [boss, worker, colleague] = [
    await signInPerson(service),
    await signInPerson(service),
    await signInPerson(service),
  ];
  const slug = await createOrganizationOf(service, { admins: [boss], members: [worker, colleague] });
  const gone = await credentialAt(`member:${slug}`, worker);
  const others = [
    await credentialAt('personal', worker),
    await credentialAt(`member:${slug}`, colleague),
    await credentialAt(`shared:${slug}`, boss),
  ];
  expect(await gone.worth()).toEqual([200, 200]);
  expect(await gone.posts()).toEqual([true, true]);

  const removal = `/console/organizations/${slug}/members/${worker.username}/remove`;
  const linked = async () => (await boss.go(`/console/agents/${gone.id}`)).visibleText;
  expect(await linked()).not.toContain('has left');
  const question = await boss.go(removal);
  expect(question.visibleText).toContain(
    `Credentials and webhooks of the agents linked with ${worker.username} end.`,
  );
  await boss.send(findForm(question, removal));
  await expect.poll(gone.worth).toEqual([401, 401]);
  expect(await gone.posts()).toEqual([false, false]);
  expect(await linked()).toContain(`Linked with${worker.username}, who has left ${slug}.`);
  for (const other of others)
    expect([await other.worth(), await other.posts()]).toEqual([
      [200, 200],
      [true, true],
    ]);
});

test('only a member can be removed', async () => {
  const [boss, stranger] = [await signInPerson(service), await signInPerson(service)];
  const slug = await createOrganizationOf(service, { admins: [boss] });
  for (const username of [stranger.username, 'unknown', slug, '%00']) {
    const page = await boss.go(`/console/organizations/${slug}/members/${username}/remove`);
    expect([page.status, page.visibleText]).toEqual([404, expect.stringContaining('No such member')]);
  }
});

test('the last admin is not offered to leave or to become a member', async () => {
  const [boss, worker] = [await signInPerson(service), await signInPerson(service)];
  const slug = await createOrganizationOf(service, { admins: [boss], members: [worker] });
  const address = `/console/organizations/${slug}`;
  const shown = async (who: SignedInPerson) => (await who.go(address)).visibleText;
  expect(await shown(boss)).not.toMatch(/Leave(?! it)|Make member/);
  expect(await shown(boss)).toContain('Make admin');
  expect(await shown(worker)).toContain('Leave');
  const page = await boss.go(address);
  await boss.send(fillForm(page, `${address}/roles`, { username: worker.username, role: 'admin' }));
  expect(await shown(boss)).toMatch(/Make member.*Leave(?! it)/);
});
