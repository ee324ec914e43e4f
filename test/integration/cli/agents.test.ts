import { beforeAll, describe, expect, test } from 'vitest';
import { agentSchema } from '../../../packages/core/src/records/agent.ts';
import { useAuthorizationServer } from '../oauth/authorization-server.ts';
import { joinOrganization } from '../../support/join-organization.ts';
import { runCli, runCliJson } from '../../clients/cli.ts';

const authority = useAuthorizationServer();
beforeAll(async () => {
  await runCliJson(authority.env, ['account', 'create', 'ada']);
  await runCliJson(authority.env, ['org', 'create', 'acme']);
  await authority.write((work) => joinOrganization(work, { slug: 'acme', username: 'ada', role: 'member' }));
});

const create = async (...args: string[]) =>
  agentSchema.strict().parse(await runCliJson(authority.env, ['agent', 'create', ...args]));
const refused = (...args: string[]) => runCli(authority.env, ['agent', 'create', ...args]);

describe('agent create', () => {
  test('prints the agent record, with the documented defaults', async () => {
    expect(await create('@Ada.Helper')).toMatchObject({
      id: expect.stringMatching(/^agt_/),
      canonical_handle: 'ada.helper',
      display_name: 'helper',
      description: '',
      scope: 'personal',
      visibility: 'unlisted',
      inbound_policy: 'contacts_only',
      card_body: '',
      skills: [],
      can_initiate_threads: true,
      paused: false,
      is_online: false,
    });
  });

  test('applies the options, and opens an account for the owner on request', async () => {
    const options = ['--visibility', 'public', '--inbound-policy', 'open', '--display-name', 'Zoë’s helper'];
    const agent = await create('zoe.helper', '--create-owner', ...options, '--description', 'Helps.');
    expect(agent).toMatchObject({
      display_name: 'Zoë’s helper',
      description: 'Helps.',
      visibility: 'public',
      inbound_policy: 'open',
    });
    await create('zoe.second', '--create-owner');
    expect(await authority.sql(`select kind from owners where name = 'zoe'`)).toEqual([{ kind: 'account' }]);
    const feeds = await authority.sql('select last_number from feed_heads where agent_id = $1', [agent.id]);
    // The second agent is a new contact of the first one.
    expect(feeds).toEqual([{ last_number: 1 }]);
  });

  test("an organization's agent is shared, or belongs to one of its members", async () => {
    expect((await create('acme.desk')).scope).toBe('shared');
    const member = await create('acme.ada', '--member', 'ada');
    expect(member.scope).toBe('member');
    const [row] = await authority.sql('select name from agents a join owners o on o.id = member_account_id');
    expect(row).toEqual({ name: 'ada' });
  });

  test('warns when every agent can write to a private agent', async () => {
    const run = await runCli(
      authority.env,
      'agent create ada.alone --visibility private --inbound-policy open'.split(' '),
    );
    expect(run.err).toContain('unreachable for strangers');
  });

  test('refuses options that exclude each other', async () => {
    await create('zed.one', '--create-owner');
    for (const [args, why] of [
      [['ada.helper2', '--scope', 'shared'], /scope personal/],
      [['acme.x', '--scope', 'personal'], /scope member or shared/],
      [['acme.x', '--scope', 'member'], /is required for the scope member/],
      [['ada.x', '--member', 'ada'], /is only for the scope member/],
      [['acme.x', '--member', 'zed'], /zed is not a member of acme/],
      [['acme.x', '--member', 'absent'], /No such account/],
      [['absent.x'], /No such owner: absent/],
      [['zed.one'], /This handle is taken/],
      [['zed'], /A handle has the form/],
    ] as const) {
      const { code, out, err } = await refused(...args);
      expect([code, out]).toEqual([1, '']);
      expect(err).toMatch(why);
      expect(err.match(/\n/g)).toHaveLength(1);
    }
    expect(await authority.sql(`select 1 from owners where name = 'absent'`)).toEqual([]);
  });

  test('a value outside the choices is a usage error', async () => {
    for (const args of [
      ['ada.y', '--visibility', 'secret'],
      ['ada.y', '--inbound-policy', 'all'],
      [],
      ['--what'],
    ]) {
      const { code, err } = await refused(...args);
      expect(code).toBe(2);
      expect(err).toMatch(/^error: /);
    }
  });
});
