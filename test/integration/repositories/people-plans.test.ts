import { beforeAll, expect, test } from 'vitest';
import { accountIdentitiesRepository } from '../../../src/repositories/people/external-identities.ts';
import { accountsRepository } from '../../../src/repositories/people/accounts.ts';
import { approvalsRepository } from '../../../src/repositories/agents/approvals.ts';
import { clientGrantsRepository } from '../../../src/repositories/auth/client-grants.ts';
import { credentialsRepository } from '../../../src/repositories/auth/credentials.ts';
import { membershipsRepository } from '../../../src/repositories/people/memberships.ts';
import { oauthClientsRepository } from '../../../src/repositories/auth/oauth-clients.ts';
import { oauthRecordsRepository } from '../../../src/repositories/auth/oauth-records.ts';
import { agentStatesRepository } from '../../../src/repositories/people/agent-states.ts';
import { personAgentsRepository } from '../../../src/repositories/people/agents.ts';
import { dashboardRepository } from '../../../src/repositories/people/dashboard.ts';
import { livePagesRepository } from '../../../src/repositories/people/live-pages.ts';
import { sessionsRepository } from '../../../src/repositories/people/sessions.ts';
import { tokensRepository } from '../../../src/repositories/auth/tokens.ts';
import { agentSearchRepository } from '../../../src/repositories/agents/search.ts';
import { contactsRepository } from '../../../src/repositories/contacts/contacts.ts';
import { countReadRows, testFullScans, type Use } from '../../support/query-plans.ts';
import { useConnectedDatabase } from '../../support/servers/postgres/database.ts';

const people = 30_000;
/** Agents of one person. */
const kin = 900;

/** One row per person: a query about one person must not read the rows of others. */
const rows: Record<string, string> = {
  owners: `(id, kind, name, created_at) select 'acc_' || n, 'account', 'p' || n, n`,
  accounts: `(id) select 'acc_' || n`,
  organization_members: `(organization_id, account_id, role, created_at) select 'org_' || n, 'acc_' || n, 'admin', n`,
  agents: `(id, owner_id, canonical_handle, display_name, scope, visibility, inbound_policy, created_at, updated_at)
    select 'agt_' || n, 'acc_' || n, 'p' || n || '.a', 'A', 'personal', 'private', 'open', n, n`,
  sessions: `(id_hash, account_id, address, user_agent, created_at, last_seen_at, expires_at)
    select sha256(n::text::bytea), 'acc_' || n, '', '', n, n, n`,
  account_identities: `(issuer, subject, account_id, created_at) select 'https://i.example', n, 'acc_' || n, n`,
  oauth_clients: `(client_id, metadata, created_at) select 'app_' || n, '{}', n`,
  oauth_records: `(model, id_hash, grant_id, payload, expires_at)
    select 'RefreshToken', sha256(n::text::bytea), 'grt_' || n, '{}', n`,
  client_grants: `(grant_id, account_id, agent_id, client_id, redirect_host, scopes, created_at, expires_at)
    select 'grt_' || n, 'acc_' || n, 'agt_' || n, 'app_' || n, 'h', '{threads:read}', n, n`,
  credentials: `(client_id, agent_id, secret_hash, scopes, created_at) select 'ams_' || n, 'agt_' || n, '', '{}', n`,
  access_tokens: `(token_hash, agent_id, client_id, grant_id, resource, scopes, payload, created_at, expires_at)
    select sha256(n::text::bytea), 'agt_' || n, 'app_' || n, 'grt_' || n, 'r', '{}', '{}', n, n`,
  approvals: `(id, agent_id, action, target, message, client_name, state, created_at, expires_at)
    select 'apr_' || n, 'agt_' || n, 'request_contact', 'a.b', '', '', 'pending', n, n`,
  inboxes: `(agent_id, types, lease_seconds, max_attempts, ordered_by_thread, position, created_at, updated_at)
    select 'agt_' || n, '{}', 60, 5, true, 0, n, n`,
  inbox_items: `(agent_id, number, event_id, event_type, state, ready_at, updated_at)
    select 'agt_' || n, 1, 'evt_' || n, 'message.created', 'dead', n, n`,
  contacts: `(agent_id, contact_id, since) select 'agt_' || n, 'agt_' || (n + 1), n`,
  removed_contacts: `(agent_id, contact_id) select 'agt_' || n, 'agt_' || (n + 2)`,
  contact_requests: `(id, from_agent_id, to_agent_id, status, created_at)
    select 'creq_' || n, 'agt_' || n, 'agt_' || (n + 1), 'pending', n`,
};
const big = new Set(Object.keys(rows));

const client = useConnectedDatabase();

beforeAll(async () => {
  await client.query(`set session_replication_role = replica`);
  for (const [table, insert] of Object.entries(rows)) {
    await client.query(`insert into ${table} ${insert} from generate_series(1, ${people}) n`);
  }
  await client.query(
    `insert into agents (id, owner_id, canonical_handle, display_name, scope, visibility, inbound_policy, created_at, updated_at)
     select 'kin_' || n, 'acc_7', 'p7.kin' || n, 'A', 'personal', 'private', 'open', n, n from generate_series(1, ${kin}) n`,
  );
  await client.query('analyze');
});

const [account, agent, app, grant] = ['acc_7', 'agt_7', 'app_7', 'grt_7'];
const hash = Buffer.alloc(32);
const list = { after: '', limit: 51 };
const question = { agent_id: agent, action: 'request_contact', target: 'a.b', message: '' } as const;

const uses: Use[] = [
  ['the person of a session', (db) => sessionsRepository(db).findPerson(hash, 1)],
  ['sessions of an account', (db) => sessionsRepository(db).list(account, 1)],
  ['sessions beyond the maximum', (db) => sessionsRepository(db).keepLatest(account, 100)],
  ['an account by its name', (db) => accountsRepository(db).findByName('p7')],
  ['identities of an account', (db) => accountIdentitiesRepository(db).list(account)],
  ['the account of an identity', (db) => accountIdentitiesRepository(db).find('https://i.example', '7')],
  ['organizations of a person', (db) => membershipsRepository(db).list(account, list)],
  ['states of agents', (db) => agentStatesRepository(db).list([agent, 'agt_8'], account, 1)],
  [
    'agents that a person manages',
    (db) => personAgentsRepository(db).list(account, { right: 'manages', ...list }),
  ],
  [
    'agents that a person acts as',
    (db) => personAgentsRepository(db).list(account, { right: 'acts_as', ...list }),
  ],
  ['one agent of a person', (db) => personAgentsRepository(db).find(account, agent)],
  ['pending approvals of a person', (db) => dashboardRepository(db).countApprovals(account, 1)],
  ['apps of a person', (db) => dashboardRepository(db).countConnections(account, 1)],
  ['the first steps of a person', (db) => dashboardRepository(db).findFirstSteps(account)],
  ['dead items of a person', (db) => dashboardRepository(db).listDeadInboxes(account, 20)],
  ['the state of an open page', (db) => livePagesRepository(db).find(hash, { now: 1, thread_id: null })],
  [
    'approvals of a person',
    (db) => approvalsRepository(db).listForPerson(account, 1, { pending: true, before: '', limit: 26 }),
  ],
  [
    'approvals that an agent can decide',
    (db) => approvalsRepository(db).listForAgent(agent, 1, { state: 'pending', before: '', limit: 26 }),
  ],
  ['the current approval of an action', (db) => approvalsRepository(db).findCurrent(question, 1)],
  ['the number of pending approvals of an agent', (db) => approvalsRepository(db).countPending(agent)],
  [
    'connections of a person',
    (db) => clientGrantsRepository(db).list(account, 1, { before: null, limit: 26 }),
  ],
  [
    'agents approved before',
    (db) => clientGrantsRepository(db).listAgents(account, app, ['threads:read'], 1),
  ],
  ['an active grant', (db) => clientGrantsRepository(db).findActive(grant)],
  ['use of a grant', (db) => clientGrantsRepository(db).recordUse(grant, 1, 1)],
  ['grants of an agent', (db) => clientGrantsRepository(db).removeOfAgent('agt_9')],
  ['a client', (db) => oauthClientsRepository(db).find(app)],
  ['records of a grant', (db) => oauthRecordsRepository(db).removeOfGrant('grt_9')],
  ['tokens of a grant', (db) => tokensRepository(db).removeOfGrant('grt_9')],
  ['a token with its grant', (db) => tokensRepository(db).find(hash)],
  ['contacts of an agent', (db) => contactsRepository(db).list(agent, { after: null, limit: 51 })],
  ['a later page of contacts', (db) => contactsRepository(db).list(agent, { after: 'p7.kin2', limit: 51 })],
  ['one contact', (db) => contactsRepository(db).find(agent, 'kin_3')],
  ['ids of contacts', (db) => contactsRepository(db).listIds(agent)],
  ['contacts of the same owner', (db) => contactsRepository(db).listSameOwnerIds(agent)],
  ...agentSearchRepository({ query: async () => [] }).matchKinds.map((kind): Use => [
    `contacts that match by ${kind}`,
    (db) =>
      agentSearchRepository(db).listContacts(kind, { viewer_id: agent, text: 'p7', after: null, limit: 21 }),
  ]),
  [
    'credentials of an agent',
    (db) => credentialsRepository(db).page(agent, { active: true, before: null, limit: 26 }),
  ],
];

testFullScans(client, uses, big);

test('a page of contacts reads no more agents of the same owner than it shows', async () => {
  const read = await countReadRows(client, 'agents', (db) =>
    contactsRepository(db).list(agent, { after: 'p7.kin3', limit: 21 }),
  );
  expect(read.length).toBeGreaterThan(0);
  expect(Math.max(...read)).toBeLessThanOrEqual(2 * 21);
});
