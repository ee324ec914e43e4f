import type { AgentSummaryRow } from '../../repositories/agents/agents.ts';
import type { ContactRow } from '../../repositories/contacts/contacts.ts';
import { wrongField } from '../../../packages/core/src/domain/errors.ts';
import type { Work } from '../../work/unit-of-work.ts';
import { type KeysetList, type PageRequest, readPage } from '../paging.ts';

type Filter = Parameters<Work['db']['agentSearch']['listAgents']>[1];
type MatchKinds = Work['db']['agentSearch']['matchKinds'];
type AgentMatch = AgentSummaryRow & { key: string };
type ContactMatch = ContactRow & { key: string };

/** The kind of match, and the position of a row among the matches of that kind. */
type Position = [kind: number, key: string, id: string];

interface Matched<Row> {
  row: Row;
  position: Position;
}

export interface Search extends PageRequest {
  q: string;
}

/**
 * Returns a page of the visible agents that match by handle or display name, best first.
 * @throws {DomainError} VALIDATION_ERROR if the query is empty, INVALID_CURSOR
 */
export async function searchAgents(work: Work, { q, ...page }: Search) {
  const { rows, next_cursor } = await readPage(work, page, agentMatches(work, await foldQuery(work, q)));
  return { rows: rows.map(({ row }) => row), next_cursor };
}

/**
 * Returns a page of the visible agents, and a page of the actor's contacts, that match by handle or display name, each best first.
 * One cursor pages both lists, up to `limit` of each; a finished list stays empty. The owners whose name matches are on the first page.
 * @throws {DomainError} VALIDATION_ERROR if the query is empty, INVALID_CURSOR
 */
export async function searchAgentsAndContacts(work: Work, { q, limit, cursor }: Search) {
  const text = await foldQuery(work, q);
  const binding = JSON.stringify(['search', text, work.actor.agent_id]);
  const decoded = cursor === undefined ? [] : work.settings.cursors.decode(binding, cursor);
  // The signature guarantees that the cursor was encoded below.
  const [afterAgent = null, afterContact = null] = [decoded.slice(0, 3), decoded.slice(3)].map((part) =>
    part.length === 3 ? (part as Position) : null,
  );
  const [agents, contacts, owners] = await Promise.all([
    readMatches(agentMatches(work, text), afterAgent, limit),
    readMatches(contactMatches(work, text), afterContact, limit),
    cursor === undefined ? work.db.ownerSearch.list(work.actor.agent_id, text, limit) : [],
  ]);
  const more = agents.more || contacts.more;
  const positions = [...agents.end, ...contacts.end];
  return {
    agents: agents.rows,
    contacts: contacts.rows,
    owners,
    next_cursor: more ? work.settings.cursors.encode(binding, positions) : undefined,
  };
}

/**
 * Returns the best matching agents, and the owners whose name matches. An owner without a public agent is shown only to its own
 * agents and members.
 * @throws {DomainError} VALIDATION_ERROR if the query is empty
 */
export async function searchDirectory(work: Work, { q, limit }: Omit<Search, 'cursor'>) {
  const text = await foldQuery(work, q);
  const [agents, owners] = await Promise.all([
    readMatches(agentMatches(work, text), null, limit),
    work.db.ownerSearch.list(work.actor.agent_id, text, limit),
  ]);
  return { agents: agents.rows, owners };
}

/** Returns up to `limit` rows after a position, and the position of the last one. */
async function readMatches<Row>(
  list: KeysetList<Matched<Row>, Position>,
  after: Position | null,
  limit: number,
) {
  const found = await list.rows(after, limit + 1);
  const rows = found.slice(0, limit);
  const more = found.length > limit;
  const last = rows.at(-1);
  const end: Position = more && last ? last.position : [Number.MAX_SAFE_INTEGER, '', ''];
  return { rows: rows.map(({ row }) => row), more, end };
}

/** Folds the query as names are folded for comparison, without a leading @. */
async function foldQuery(work: Work, q: string): Promise<string> {
  const text = await work.db.agentSearch.fold(q.trim().replace(/^@/, '').trim());
  if (text !== '') return text;
  throw wrongField('q', 'must not be empty');
}

function agentMatches(work: Work, text: string): KeysetList<Matched<AgentMatch>, Position> {
  return {
    binding: ['search_agents', text],
    rows: (after, limit) =>
      listBestFirst(work, text, after, limit, work.db.agentSearch.listAgents, (row) => row.id),
    position: ({ position }) => position,
  };
}

function contactMatches(work: Work, text: string): KeysetList<Matched<ContactMatch>, Position> {
  return {
    binding: ['search_contacts', text],
    rows: (after, limit) =>
      listBestFirst(work, text, after, limit, work.db.agentSearch.listContacts, (row) => row.agent_id),
    position: ({ position }) => position,
  };
}

/** Queries one kind of match after the other until the page is full, so that worse matches cost nothing when better ones fill it. */
async function listBestFirst<Row extends { key: string }>(
  { db: { agentSearch }, actor }: Work,
  text: string,
  after: Position | null,
  limit: number,
  list: (kind: MatchKinds[number], filter: Filter) => Promise<Row[]>,
  idOf: (row: Row) => string,
): Promise<Matched<Row>[]> {
  const found: Matched<Row>[] = [];
  const [start = 0, key = '', id = ''] = after ?? [];
  for (const [index, kind] of agentSearch.matchKinds.entries()) {
    if (index < start || found.length >= limit) continue;
    const afterRow = index === start && after ? { key, id } : null;
    const filter = { viewer_id: actor.agent_id, text, after: afterRow, limit: limit - found.length };
    const rows = await list(kind, filter);
    found.push(...rows.map((row) => ({ row, position: [index, row.key, idOf(row)] satisfies Position })));
  }
  return found;
}
