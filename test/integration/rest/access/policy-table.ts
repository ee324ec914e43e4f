/**
 * The access policies (docs/decisions/0007-trust.md) in one table. A cell is what the
 * viewer gets when the other agent has the policy of the column: a status, a code, or what it sees.
 */
export const policies = ['contacts_only', 'trusted_only', 'allowlist', 'open'] as const;
export const visibilities = ['public', 'unlisted', 'private'] as const;
export const relations = [
  'stranger',
  'contact',
  'same owner',
  'same organization',
  'on the allowlist',
  'owner on the allowlist',
  'blocked by it',
  'has blocked it',
] as const;

export type Policy = (typeof policies)[number];
export type Visibility = (typeof visibilities)[number];
export type Relation = (typeof relations)[number];
/** One for each policy, in their order, or one for all. */
type Row = string | readonly [string, string, string, string];

type Table = Record<Relation, Record<Visibility, Row>>;

const notFoundRow = 'AGENT_NOT_FOUND';
const strangerRow: Row = ['NOT_CONTACTS', 'NOT_TRUSTED', 'NOT_ALLOWED', '201'];
const relatedRow: Row = ['NOT_CONTACTS', '201', 'NOT_ALLOWED', '201'];
const allowlistedRow: Row = ['NOT_CONTACTS', 'NOT_TRUSTED', '201', '201'];
const blockedRow: Row = ['NOT_CONTACTS', 'NOT_TRUSTED', 'NOT_ALLOWED', 'NOT_ALLOWED'];
const requestRow: Row = ['pending', 'NOT_TRUSTED', 'NOT_ALLOWED', 'pending'];

/** The viewer opened the thread when the target was open; a common thread makes a private agent visible. */
const threadRows: Record<Relation, Record<Visibility, Row>> = {
  stranger: { public: strangerRow, unlisted: strangerRow, private: strangerRow },
  contact: { public: '201', unlisted: '201', private: '201' },
  'same owner': { public: '201', unlisted: '201', private: '201' },
  'same organization': { public: relatedRow, unlisted: relatedRow, private: relatedRow },
  'on the allowlist': { public: allowlistedRow, unlisted: allowlistedRow, private: allowlistedRow },
  'owner on the allowlist': { public: allowlistedRow, unlisted: allowlistedRow, private: allowlistedRow },
  'blocked by it': { public: blockedRow, unlisted: blockedRow, private: blockedRow },
  'has blocked it': { public: 'BLOCKED', unlisted: 'BLOCKED', private: 'BLOCKED' },
};

/** The first message to an agent: in a new thread of the two, or in a group that the agent is added to. */
const newThreadRows: Table = {
  stranger: { public: strangerRow, unlisted: strangerRow, private: notFoundRow },
  contact: { public: '201', unlisted: '201', private: '201' },
  'same owner': { public: '201', unlisted: '201', private: '201' },
  'same organization': { public: relatedRow, unlisted: relatedRow, private: relatedRow },
  'on the allowlist': { public: allowlistedRow, unlisted: allowlistedRow, private: notFoundRow },
  'owner on the allowlist': { public: allowlistedRow, unlisted: allowlistedRow, private: notFoundRow },
  'blocked by it': { public: blockedRow, unlisted: blockedRow, private: notFoundRow },
  'has blocked it': { public: 'BLOCKED', unlisted: 'BLOCKED', private: notFoundRow },
};

export const policyTable: Record<string, Table> = {
  'open thread': newThreadRows,
  'send in an open thread': threadRows,
  // Otherwise a thread of two could become a group, where only a block counts.
  'add a third agent to an open thread': threadRows,
  'be added to a group': newThreadRows,
  'request contact': {
    stranger: { public: requestRow, unlisted: requestRow, private: notFoundRow },
    contact: { public: 'approved', unlisted: 'approved', private: 'approved' },
    'same owner': { public: 'approved', unlisted: 'approved', private: 'approved' },
    'same organization': { public: 'approved', unlisted: 'approved', private: 'approved' },
    'on the allowlist': {
      public: ['pending', 'NOT_TRUSTED', 'pending', 'pending'],
      unlisted: ['pending', 'NOT_TRUSTED', 'pending', 'pending'],
      private: notFoundRow,
    },
    'owner on the allowlist': {
      public: ['pending', 'NOT_TRUSTED', 'pending', 'pending'],
      unlisted: ['pending', 'NOT_TRUSTED', 'pending', 'pending'],
      private: notFoundRow,
    },
    'blocked by it': { public: requestRow, unlisted: requestRow, private: notFoundRow },
    'has blocked it': { public: 'BLOCKED', unlisted: 'BLOCKED', private: notFoundRow },
  },
  'read card': {
    stranger: { public: '200', unlisted: '200', private: notFoundRow },
    contact: { public: '200', unlisted: '200', private: '200' },
    'same owner': { public: '200', unlisted: '200', private: '200' },
    'same organization': { public: '200', unlisted: '200', private: '200' },
    'on the allowlist': { public: '200', unlisted: '200', private: notFoundRow },
    'owner on the allowlist': { public: '200', unlisted: '200', private: notFoundRow },
    'blocked by it': { public: '200', unlisted: '200', private: notFoundRow },
    'has blocked it': { public: '200', unlisted: '200', private: notFoundRow },
  },
  'find in search': {
    stranger: { public: 'found', unlisted: 'not found', private: 'not found' },
    contact: { public: 'found', unlisted: 'found', private: 'found' },
    'same owner': { public: 'found', unlisted: 'found', private: 'found' },
    'same organization': { public: 'found', unlisted: 'found', private: 'found' },
    'on the allowlist': { public: 'found', unlisted: 'not found', private: 'not found' },
    'owner on the allowlist': { public: 'found', unlisted: 'not found', private: 'not found' },
    'blocked by it': { public: 'found', unlisted: 'not found', private: 'not found' },
    'has blocked it': { public: 'found', unlisted: 'not found', private: 'not found' },
  },
};

/** The value of a row for this policy. */
export function expectedOutcome(row: Row, policy: Policy): string {
  return typeof row === 'string' ? row : (row[policies.indexOf(policy)] ?? '');
}
