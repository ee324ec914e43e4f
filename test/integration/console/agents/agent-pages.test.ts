import { describe, expect, test } from 'vitest';
import { removeFromOrganization } from '../../../../src/services/people/organizations.ts';
import { findForm, foreignScripts, type PageResponse } from '../../../clients/form-browser.ts';
import { followFeed } from '../../../clients/feed.ts';
import { type TestAgent, useSharedService } from '../../../support/service.ts';
import {
  findFieldError,
  readFormFields,
  createOrganizationOf,
  type SignedInPerson,
  signInPerson,
  signInWithAgent,
  fillForm,
} from '../signed-in-person.ts';
import type { PageParts } from '../../../../src/transports/console/parts.ts';
import { consoleRoutes } from '../../../../src/transports/console/routes.ts';

const service = useSharedService();

const pageOf = ({ id }: Pick<TestAgent, 'id'>, below = '') => `/console/agents/${id}${below}`;
const recordOf = async ({ token }: TestAgent) => (await service.get({ token }, '/agents/me')).body;

function fill(who: SignedInPerson, address: string, fields: Record<string, string | null>, button?: string) {
  return who.fill(address, { fields, ...(button !== undefined && { button }) });
}

describe('the profile', () => {
  const profile = {
    display_name: 'New name',
    description: 'Two\nlines',
    card_body: '\n# Hello\n\nWorld',
    'skill_name.0': 'planning',
    'skill_description.0': 'Makes plans.',
  };

  test('is saved by the operation that agents call; a repeated form saves once', async () => {
    const { mine, ...ada } = await signInWithAgent(service);
    const feed = await followFeed(service.api, mine.token);
    const saved = await fill(ada, pageOf(mine, '/profile'), profile, 'save');
    expect(saved.visibleText).toContain('Profile saved');
    const expected = {
      display_name: 'New name',
      description: 'Two\nlines',
      card_body: '\n# Hello\n\nWorld',
      skills: [{ name: 'planning', description: 'Makes plans.' }],
    };
    expect(await recordOf(mine)).toMatchObject(expected);
    await fill(ada, pageOf(mine, '/profile'), profile, 'save');
    expect((await feed()).map(({ type }) => type)).toEqual(['agent.updated']);
  });

  test('has LF line endings, whatever the browser sends', async () => {
    const { mine, ...ada } = await signInWithAgent(service);
    await fill(
      { ...ada },
      pageOf(mine, '/profile'),
      { card_body: 'one\r\ntwo', description: 'a\r\nb' },
      'save',
    );
    expect(await recordOf(mine)).toMatchObject({ card_body: 'one\ntwo', description: 'a\nb' });
  });

  test('has a preview card, in which unsafe markup is inert', async () => {
    const { mine, ...ada } = await signInWithAgent(service);
    const before = await recordOf(mine);
    const card_body = [
      '# Greeting',
      '*Soft* [far](https://example.com) [here](/console) [bad](javascript:alert(1))',
      '<script>alert(1)</script> ![shot](https://example.com/x.png)',
    ].join('\n\n');
    const page = await fill(ada, pageOf(mine, '/profile'), { ...profile, card_body }, 'preview');
    expect(page.status).toBe(200);
    expect(page.visibleText).toMatch(/Preview.*New name.*planning.*Makes plans\..*Greeting/);
    expect(page.text).toContain('<h1>Greeting</h1>');
    expect(page.text).toContain(
      '<a href="https://example.com" rel="nofollow noopener noreferrer" target="_blank">far</a>',
    );
    expect([foreignScripts(page).length, page.text.includes('href="javascript:')]).toEqual([0, false]);
    expect(page.elements('img').map(({ attribs }) => attribs['src'])).toEqual([
      expect.stringMatching(/^\/assets\/mark\./),
    ]);
    expect(page.headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self' 'sha256-[\w+/=]+'; img-src 'self'; form-action 'self'; frame/,
    );
    expect(readFormFields(page, pageOf(mine, '/profile'))).toMatchObject({
      display_name: 'New name',
      card_body,
    });
    expect(await recordOf(mine)).toEqual(before);
  });

  test('shows errors at the fields, in the preview too, and keeps the input', async () => {
    const { mine, ...ada } = await signInWithAgent(service);
    for (const button of ['save', 'preview']) {
      const wrong = { ...profile, display_name: ' ', 'skill_name.1': 'A B', 'skill_description.1': 'kept' };
      const page = await fill(ada, pageOf(mine, '/profile'), wrong, button);
      expect([page.status, page.title.split(':')[0]]).toEqual([400, 'Error']);
      expect(findFieldError(page, 'display_name')).toBe('Display name must have at least 1 character.');
      expect(findFieldError(page, 'skill_name.1')).toBe('Skill 2 must be a lower-case slug.');
      expect([findFieldError(page, 'skill_name.0'), findFieldError(page, 'card_body')]).toEqual([
        undefined,
        undefined,
      ]);
      expect(readFormFields(page, pageOf(mine, '/profile'))).toMatchObject({
        'skill_name.1': 'A B',
        'skill_description.1': 'kept',
      });
    }
    expect((await recordOf(mine)).display_name).toBe('agent');
  });

  test('has up to twenty skill rows, adds rows as they fill, and drops empty ones', async () => {
    const { mine, ...ada } = await signInWithAgent(service);
    const rows = (page: PageResponse) =>
      Object.keys(readFormFields(page, pageOf(mine, '/profile'))).filter((name) =>
        name.startsWith('skill_name'),
      ).length;
    const skills = (many: number) =>
      Object.fromEntries(
        Array.from({ length: many }, (_, index) => [`skill_name.${index}`, `skill-${index}`]),
      );
    const first = await ada.go(pageOf(mine, '/profile'));
    expect(rows(first)).toBe(1);
    const saved = await fill(ada, pageOf(mine, '/profile'), skills(3), 'save');
    expect(rows(saved)).toBe(4);
    const more = await fill(ada, pageOf(mine, '/profile'), skills(5), 'rows');
    expect([rows(more), (await recordOf(mine)).skills.length]).toEqual([11, 3]);
    const all = await fill(ada, pageOf(mine, '/profile'), skills(20), 'save');
    expect([rows(all), (await recordOf(mine)).skills.length]).toEqual([20, 20]);
    await fill(ada, pageOf(mine, '/profile'), { 'skill_name.0': '' }, 'save');
    expect((await recordOf(mine)).skills[0]).toEqual({ name: 'skill-1', description: '' });
  });
});

describe('the settings', () => {
  test('say who can see the agent and write to it, and whether it can start threads', async () => {
    const { mine, ...ada } = await signInWithAgent(service);
    const address = pageOf(mine, '/settings');
    const reach = { visibility: 'private', inbound_policy: 'trusted_only' };
    await fill(ada, address, { ...reach, can_initiate_threads: null });
    expect(await recordOf(mine)).toMatchObject({ ...reach, can_initiate_threads: false });
    const page = await fill(ada, address, { can_initiate_threads: 'on' });
    expect(await recordOf(mine)).toMatchObject({ ...reach, can_initiate_threads: true });
    expect(readFormFields(page, address)).toMatchObject({ ...reach, can_initiate_threads: 'on' });
    const wrong = await fill(ada, address, { visibility: 'seen', inbound_policy: null });
    expect([
      wrong.status,
      findFieldError(wrong, 'visibility'),
      findFieldError(wrong, 'inbound_policy'),
    ]).toEqual([400, 'Choose one of these options.', 'Choose one of these options.']);
  });

  test('warn when every agent can write to a private agent', async () => {
    const { mine, ...ada } = await signInWithAgent(service);
    const address = pageOf(mine, '/settings');
    const warning = 'unreachable for strangers';
    const unlisted = await fill(ada, address, { visibility: 'unlisted', inbound_policy: 'open' });
    expect(unlisted.visibleText).not.toContain(warning);
    const hidden = await fill(ada, address, { visibility: 'private', inbound_policy: 'open' });
    expect(hidden.visibleText).toContain(warning);
    const create = '/console/agents/new';
    const fields = { name: 'alone', display_name: 'A', visibility: 'private', inbound_policy: 'open' };
    const created = await ada.fill(create, { fields, button: 'create' });
    expect(created.visibleText).toContain(warning);
  });

  test('pause and resume the agent; a repeated form changes nothing', async () => {
    const { mine, ...ada } = await signInWithAgent(service);
    const [address, action] = [pageOf(mine, '/settings'), pageOf(mine, '/settings/pause')];
    const pause = findForm(await ada.go(address), action);
    for (let time = 0; time < 2; time += 1) {
      const paused = await ada.send(pause);
      expect(paused.visibleText).toMatch(/agent is paused.*Paused/);
      expect((await recordOf(mine)).paused).toBe(true);
    }
    const resumed = await ada.fill(address, {}, action);
    expect(resumed.visibleText).toContain('agent is active again');
    expect((await recordOf(mine)).paused).toBe(false);
  });
});

describe('deleting', () => {
  test('requires the handle, and revokes all credentials of the agent', async () => {
    const { mine, ...ada } = await signInWithAgent(service);
    const address = pageOf(mine, '/delete');
    for (const typed of ['', 'agent', `${mine.handle}x`]) {
      const page = await fill(ada, address, { handle: typed });
      expect([page.status, findFieldError(page, 'handle')]).toEqual([400, `Enter ${mine.handle}.`]);
    }
    expect((await recordOf(mine)).id).toBe(mine.id);
    const confirm = await ada.go(address);
    const done = await fill(ada, address, { handle: ` @${mine.handle.toUpperCase()} ` });
    expect(done.visibleText).toContain(`Deleted @${mine.handle}`);
    expect((await service.get(mine, '/agents/me')).status).toBe(401);
    expect(done.visibleText).toContain('No agents yet');
    const again = await ada.send(findForm(confirm, address), { fields: { handle: mine.handle } });
    expect([again.status, again.title]).toEqual([404, 'Page not found · Agent Messaging']);
  });
});

describe('an agent of another owner', () => {
  async function createCompany() {
    const [boss, worker] = [await signInPerson(service), await signInPerson(service)];
    const slug = await createOrganizationOf(service, { admins: [boss], members: [worker] });
    const handle = `${slug}.tied`;
    const tied = await service.register({ handle, member: worker.username });
    return { boss, worker, slug, tied };
  }

  test('is changed and deleted by an admin', async () => {
    const { boss, worker, tied } = await createCompany();
    await fill(boss, pageOf(tied, '/profile'), { display_name: 'Renamed' }, 'save');
    expect((await recordOf(tied)).display_name).toBe('Renamed');
    const page = await boss.go(pageOf(tied));
    expect(page.visibleText).toContain(`agent of ${worker.username}`);
    expect(page.visibleText).not.toMatch(/Credentials|Contacts|Blocks/);
    const deleted = await fill(boss, pageOf(tied, '/delete'), { handle: tied.handle });
    expect(deleted.visibleText).toContain('Deleted @');
  });

  test('remains manageable by an admin after that person has left', async () => {
    const { boss, worker, slug, tied } = await createCompany();
    await service.write((work) => removeFromOrganization(work, { slug, username: worker.username }));
    expect((await worker.go(pageOf(tied))).status).toBe(404);
    const paused = await boss.fill(pageOf(tied, '/settings'), {}, pageOf(tied, '/settings/pause'));
    expect(paused.visibleText).toContain('is paused');
    const deleted = await fill(boss, pageOf(tied, '/delete'), { handle: tied.handle });
    expect(deleted.visibleText).toContain('Deleted @');
  });
});

const parts = { settings: { public_url: 'http://localhost', signup: 'open' } } as unknown as PageParts;

const ofAgents = consoleRoutes(parts).filter(({ path }) => path.startsWith('/console/agents/:id'));

/** The page without the parts that differ between requests. */
function essence({ status, text, headers }: PageResponse): unknown[] {
  const same = text.replaceAll(/req_\w+|[0-9a-f]{8}-[0-9a-f-]{27}/g, 'request');
  return [status, same.replaceAll(/name="csrf" value="[^"]*"/g, 'csrf'), headers.get('location')];
}

test.each(ofAgents.map((route) => [route.method, route.path] as const))(
  '%s %s returns for another owner’s agent the same as for a missing agent',
  async (method, path) => {
    const [owner, stranger] = [await signInPerson(service), await signInPerson(service)];
    const theirs = await owner.agent();
    await stranger.agent();
    const home = await stranger.go('/console');
    const answers = await Promise.all(
      [theirs.id, 'agt_00000000000000000000000000', 'nonsense', '%00'].map(async (id) => {
        const address = path.replace(':id', id);
        const page =
          method === 'GET'
            ? await stranger.go(address)
            : await stranger.send(fillForm(home, address, { handle: theirs.handle, paused: 'true' }));
        return essence(page);
      }),
    );
    expect(answers[0]?.[0]).toBe(404);
    for (const answer of answers) expect(answer).toEqual(answers[0]);
    const own = await owner.go(`/console/agents/${theirs.id}/settings`);
    expect(own.visibleText).not.toContain('Paused');
  },
);
