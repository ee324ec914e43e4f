import { expect, test } from 'vitest';
import type { AuditAction } from '../../../../packages/core/src/domain/auth/audit.ts';
import { foreignScripts, type PageResponse } from '../../../clients/form-browser.ts';
import { useSharedService } from '../../../support/service.ts';
import { uniqueName } from '../../../support/unique-name.ts';
import { createRoles, type Roles } from '../conversations/conversation-fixtures.ts';
import { signInPerson } from '../signed-in-person.ts';

const service = useSharedService();

const audit = '/console/audit';

/** Inserts entries of an agent, one for each action, in this order. */
function record(agent_id: string, acts: readonly AuditAction[]): Promise<void> {
  return service.write(async (work) => {
    acts.forEach((act, index) => work.changes.audit({ act, agent_id, about: `entry-${index}` }));
  });
}

const entriesOf = (page: PageResponse): string[] => page.visibleText.match(/entry-\d+/g) ?? [];

test('shows what was done to the agents of a person and by them, with links to the agents', async () => {
  const ada = await signInPerson(service);
  const [mine, other] = [await ada.agent(), await service.agent()];
  const blocked = await service.post(mine, '/blocks', { handle: other.handle });
  expect(blocked.status).toBe(201);
  const page = await ada.go(audit);
  expect(page.status).toBe(200);
  expect(page.visibleText).toContain(`Agent registered @${mine.handle}`);
  expect(page.visibleText).toContain(`Agent blocked @${mine.handle}${other.handle}`);
  expect(page.visibleText).toContain(`agent ${mine.handle} · rest`);
  const links = page.links;
  expect(links).toContain(`/console/agents/${mine.id}`);
});

test('an organization that a person founded is not named as the person', async () => {
  const ada = await signInPerson(service);
  const slug = uniqueName('org');
  expect((await ada.fill('/console/organizations', { fields: { slug } })).status).toBe(200);
  const { visibleText } = await ada.go(audit);
  expect(visibleText).toContain(`Organization founded ${slug}`);
  expect(visibleText).toContain(`person ${ada.person.username} · console`);
});

test('each role sees the agents that it administers; a block is hidden from the one who is blocked', async () => {
  const { people, agents, slug } = await createRoles(service);
  const own = await people.outsider.agent();
  const blocked = await service.post(agents.personal, '/blocks', { handle: own.handle });
  expect(blocked.status).toBe(201);
  const seen = async (name: keyof Roles['people'], query = '') => {
    const { status, visibleText } = await people[name].go(`${audit}${query}`);
    expect(status).toBe(200);
    const registered = Object.entries(agents).filter(([, { handle }]) =>
      visibleText.includes(`registered @${handle}`),
    );
    return [
      ...registered.map(([kind]) => kind),
      ...(visibleText.includes(`Member changed`) ? ['members'] : []),
    ];
  };
  const names = Object.keys(people) as (keyof Roles['people'])[];
  const all = await Promise.all(names.map(async (name) => [name, await seen(name)]));
  expect(Object.fromEntries(all)).toEqual({
    owner: ['personal'],
    admin: ['shared', 'linked with a member', 'members'],
    member: ['linked with a member'],
    colleague: [],
    outsider: [],
  });
  expect(await seen('outsider', `?agent=${agents.shared.id}`)).toEqual([]);
  expect(await seen('admin', `?agent=${agents.shared.id}`)).toEqual(['shared']);
  expect((await people.outsider.go(audit)).visibleText).not.toMatch(/blocked/);
  const text = 'delete from organization_members where account_id = $1';
  await service.sql(text, [people.admin.person.account_id]);
  expect(await seen('admin')).toEqual([]);
  expect((await people.admin.go(audit)).visibleText).not.toContain(slug);
});

test('entries are filtered by kind and by agent; odd filters are ignored', async () => {
  const ada = await signInPerson(service);
  const [one, two] = [await ada.agent(), await ada.agent('second')];
  await record(one.id, ['webhook.created', 'credential.created', 'subscription.ended']);
  await record(two.id, ['contact.removed']);
  const of = async (query: string) => (await ada.go(`${audit}?${query}`)).visibleText;
  const webhooks = await of('kind=webhooks');
  expect(webhooks).toContain('Subscription ended');
  expect(webhooks).toContain('Webhook created');
  expect(webhooks).not.toMatch(/Credential created|Contact removed|Agent registered/);
  expect(await of('kind=contacts')).toContain(`Contact removed @${two.handle}`);
  expect(await of(`kind=contacts&agent=${one.id}`)).toContain('No entries');
  expect(await of(`agent=${one.id}`)).not.toContain(`Contact removed @${two.handle}`);
  const odd = ['kind=drop&agent=%00&before=x', 'kind=constructor', 'before=aud_', 'agent=agt_1'];
  const answers = await Promise.all(odd.map((query) => ada.go(`${audit}?${query}`)));
  answers.forEach((answer) => {
    expect(answer.status).toBe(200);
    expect(answer.visibleText).toContain('Contact removed');
  });
});

test('pages have each entry once, also if most entries are of another agent or kind', async () => {
  const ada = await signInPerson(service);
  const [busy, calm] = [await ada.agent(), await ada.agent('calm')];
  await record(calm.id, ['webhook.created']);
  await record(
    busy.id,
    Array.from({ length: 230 }, (_, index) => (index === 3 ? 'webhook.created' : 'token.issued')),
  );
  const readAll = async (path: string | undefined): Promise<string[][]> => {
    if (path === undefined) return [];
    const page = await ada.go(path);
    return [entriesOf(page), ...(await readAll(page.next))];
  };
  const pages = await readAll(audit);
  expect(pages.flat().toSorted()).toEqual(
    [...Array.from({ length: 230 }, (_, index) => `entry-${index}`), 'entry-0'].toSorted(),
  );
  expect(pages.map((entries) => entries.length).slice(0, 4)).toEqual([50, 50, 50, 50]);
  const found = await readAll(`${audit}?kind=webhooks`);
  expect(found.flat()).toEqual(['entry-3', 'entry-0']);
});

test('hostile names stay text', async () => {
  const ada = await signInPerson(service);
  const mine = await ada.agent();
  const hostile = `"></li><script>alert(1)</script>`;
  await service.write(async (work) => {
    work.changes.audit({
      act: 'credential.created',
      agent_id: mine.id,
      about: hostile,
      detail: { name: hostile, [hostile]: 1, files: 0, expires_in: 900, expires_at: work.now + 7_200_000 },
    });
  });
  const page = await ada.go(`${audit}?kind=access`);
  expect(foreignScripts(page)).toEqual([]);
  expect(page.visibleText).toContain(hostile);
  expect(page.visibleText).toContain('expires at: in 1 hour, expires in: 15 minutes');
  // A count of 0 says nothing.
  expect(page.visibleText).not.toContain('files');
});
