import { wrongField } from '../../domain/errors.ts';
import type { Work } from '../../work/unit-of-work.ts';
import { type KeysetList, type PageRequest, readPage } from '../paging.ts';

type Filter = Parameters<Work['agentSearch']['listAgents']>[1];
type MatchKinds = Work['agentSearch']['matchKinds'];
type AgentMatch = Awaited<ReturnType<Work['agentSearch']['listAgents']>>[number];
type ContactMatch = Awaited<ReturnType<Work['agentSearch']['listContacts']>>[number];

/** The way in which a row matched, and where it stands among those that match in the same way. */
type Position = [way: number, key: string, id: string];

interface Matched<Row> {
  row: Row;
  position: Position;
}

export interface Search extends PageRequest {
  q: string;
}

/**
 * A page of the agents that the actor sees and that match by handle or display name, best first (contract, section 3).
 * @throws {DomainError} VALIDATION_ERROR when nothing is left to look for, INVALID_CURSOR
 */
export async function searchAgents(work: Work, { q, ...page }: Search) {
  const { rows, next_cursor } = await readPage(work, page, agentMatches(work, await foldQuery(work, q)));
  return { agents: rows.map(({ row }) => row), next_cursor };
}

/**
 * A page of the agents that the actor sees, and of its contacts, that match by handle or display name, each best first. One
 * cursor pages both lists, up to `limit` of each; a list that has ended stays empty.
 * @throws {DomainError} VALIDATION_ERROR when nothing is left to look for, INVALID_CURSOR
 */
export async function searchAgentsAndContacts(work: Work, { q, limit, cursor }: Search) {
  const text = await foldQuery(work, q);
  const binding = JSON.stringify(['search', text, work.actor.agent_id]);
  const given = cursor === undefined ? [] : work.cursors.decode(binding, cursor);
  // What the signature holds was written below.
  const [first = null, second = null] = [given.slice(0, 3), given.slice(3)].map((part) =>
    part.length === 3 ? (part as Position) : null,
  );
  const [agents, contacts] = await Promise.all([
    readMatches(agentMatches(work, text), first, limit),
    readMatches(contactMatches(work, text), second, limit),
  ]);
  const more = agents.more || contacts.more;
  const positions = [...agents.end, ...contacts.end];
  return {
    agents: agents.rows,
    contacts: contacts.rows,
    next_cursor: more ? work.cursors.encode(binding, positions) : undefined,
  };
}

/**
 * The agents that match best, and the owners whose name does. Nobody learns of an owner that has no public agent, unless they
 * belong together (contract, section 3).
 * @throws {DomainError} VALIDATION_ERROR when nothing is left to look for
 */
export async function searchDirectory(work: Work, { q, limit }: Omit<Search, 'cursor'>) {
  const text = await foldQuery(work, q);
  const [agents, owners] = await Promise.all([
    readMatches(agentMatches(work, text), null, limit),
    work.ownerSearch.list(work.actor.agent_id, text, limit),
  ]);
  return { agents: agents.rows, owners };
}

/** Up to `limit` rows behind a position, and the position behind them. */
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

/** The text as names are compared, without the @ that a handle may be written with. */
async function foldQuery(work: Work, q: string): Promise<string> {
  const text = await work.agentSearch.fold(q.trim().replace(/^@/, '').trim());
  if (text !== '') return text;
  throw wrongField('q', 'must name something to look for');
}

function agentMatches(work: Work, text: string): KeysetList<Matched<AgentMatch>, Position> {
  return {
    binding: ['search_agents', text],
    rows: (after, limit) =>
      listBestFirst(work, text, after, limit, work.agentSearch.listAgents, (row) => row.id),
    position: ({ position }) => position,
  };
}

function contactMatches(work: Work, text: string): KeysetList<Matched<ContactMatch>, Position> {
  return {
    binding: ['search_contacts', text],
    rows: (after, limit) =>
      listBestFirst(work, text, after, limit, work.agentSearch.listContacts, (row) => row.agent_id),
    position: ({ position }) => position,
  };
}

/** Way by way until there are enough: what matches worse is not even looked for when better matches fill the page. */
async function listBestFirst<Row extends { key: string }>(
  { agentSearch, actor }: Work,
  text: string,
  after: Position | null,
  limit: number,
  list: (way: MatchKinds[number], filter: Filter) => Promise<Row[]>,
  idOf: (row: Row) => string,
): Promise<Matched<Row>[]> {
  const found: Matched<Row>[] = [];
  const [start = 0, key = '', id = ''] = after ?? [];
  for (const [index, way] of agentSearch.matchKinds.entries()) {
    if (index < start || found.length >= limit) continue;
    const behind = index === start && after ? { key, id } : null;
    const filter = { viewer_id: actor.agent_id, text, after: behind, limit: limit - found.length };
    const rows = await list(way, filter);
    found.push(...rows.map((row) => ({ row, position: [index, row.key, idOf(row)] satisfies Position })));
  }
  return found;
}
