import { type AgentSummaryRow, summaryColumns } from './agents.ts';
import { contactColumns, type ContactRow } from '../contacts/contacts.ts';
import { type Queryable, type Statement, statement } from '../queryable.ts';

/**
 * How an agent can match, the best way first: its handle begins with the text (an exact handle leads), its display name does,
 * either contains it (where a word begins with it first), or a word of either is like it.
 */
const matchKinds = ['handle', 'name', 'part', 'likeness'] as const;

export type MatchKind = (typeof matchKinds)[number];

/** Where a match stands among those of its way. */
export interface MatchPosition {
  key: string;
  id: string;
}

/** $2 is the text that is looked for, folded; $3 and $4 are the position behind which the page begins. */
const isPrefixOf = (column: string) => `starts_with(${column}, $2)`;
const isPrefix = `(${isPrefixOf('a.canonical_handle')} or ${isPrefixOf('a.search_name')})`;
const isPart = `octet_length($2) >= 3 and strpos(a.search_text, $2) > 0`;
const behind = (key: string) => `(${key} collate "C", a.id) > ($3, $4)`;

/** Ranges instead of LIKE, so that an index serves them whatever the text is; and it begins where the page does. */
const inRange = (column: string) => `${column} >= greatest($2 collate "C", $3)
  and ${column} < $2 || chr(1114111) and not (${column} = $3 and a.id <= $4)`;

const wordStart = `case when strpos(' ' || translate(a.search_text, '.-_', '   '), ' ' || $2) > 0 then '0' else '1' end`;

/** Best first, as a text to sort by. */
const unlikeness = (likeness: string) => `lpad((1000 - round(${likeness} * 1000))::int::text, 4, '0')`;
const ownLikeness = `word_similarity($2, a.search_text)`;

/** Among the few agents of the table expression `a`: what makes a match in each way, and in no better one. */
const matches: Record<MatchKind, { key: string; where: string }> = {
  handle: { key: 'a.canonical_handle', where: inRange('a.canonical_handle') },
  name: {
    key: 'a.search_name',
    where: `${inRange('a.search_name')} and not ${isPrefixOf('a.canonical_handle')}`,
  },
  part: { key: wordStart, where: `${isPart} and not ${isPrefix} and ${behind(wordStart)}` },
  likeness: {
    key: unlikeness(ownLikeness),
    where: `octet_length($2) >= 3 and strpos(a.search_text, $2) = 0 and ${ownLikeness} >= 0.3
      and ${behind(unlikeness(ownLikeness))}`,
  },
};

const fromPublic = `from agents a where a.visibility = 'public' and a.retired_at is null and`;

/** Among all public agents: each way by its own index. */
const publicMatches: Record<MatchKind, string> = {
  handle: `select a.id, a.canonical_handle as key ${fromPublic} ${matches.handle.where} order by 2, 1 limit $5`,
  name: `select a.id, a.search_name as key ${fromPublic} ${matches.name.where} order by 2, 1 limit $5`,
  part: `select a.id, a.key from public_agents_with($2, $3, $4, $5) a where octet_length($2) >= 3`,
  likeness: `select a.id, ${unlikeness('a.likeness')} as key from public_agents_like($2, 1000) a
    where octet_length($2) >= 3 and ${behind(unlikeness('a.likeness'))} order by 2, 1 limit $5`,
};

/**
 * Agents that $1 sees for another reason than that they are public (agents.find_seen has the same reasons): a small set, fetched by
 * id. So a hidden agent is never looked at, and costs no time that could tell of it.
 */
const related = `select a.id from agents me join agents a on a.owner_id = me.owner_id where me.id = $1
  union all select c.contact_id from contacts c where c.agent_id = $1
  union all select t.agent_id from thread_members m join thread_members t using (thread_id) where m.agent_id = $1
  union all select q.from_agent_id from contact_requests q where q.to_agent_id = $1`;

const contacts = `select c.contact_id from contacts c where c.agent_id = $1`;

/** To compare is dear: for likeness only the latest are looked at, as many as of the public ones. */
const among = (ids: string, way: MatchKind) => `select a.id, a.canonical_handle, a.search_name, a.search_text
  from agents a where a.id = any (array(${ids})) and a.retired_at is null
  ${way === 'likeness' ? 'order by a.id desc limit 1000' : ''}`;

function agentsBy(way: MatchKind): Statement {
  const { key, where } = matches[way];
  return statement(
    `agent_search.agents_by_${way}`,
    `with known as materialized (${among(related, way)}), found as (
       (${publicMatches[way]})
       union
       (select a.id, ${key} as key from known a where ${where} order by 2, 1 limit $5)
     ), best as (select id, key collate "C" as key from found order by 2, 1 limit $5)
     select ${summaryColumns}, best.key from best join agents a using (id) order by best.key, a.id`,
  );
}

function contactsBy(way: MatchKind): Statement {
  const { key, where } = matches[way];
  return statement(
    `agent_search.contacts_by_${way}`,
    `with known as materialized (${among(contacts, way)}),
     best as (select a.id, ${key} collate "C" as key from known a where ${where} order by 2, 1 limit $5)
     select ${contactColumns}, best.key
     from best join agents a using (id) join contacts c on c.agent_id = $1 and c.contact_id = a.id
     order by best.key, a.id`,
  );
}

const statements = {
  fold: statement('agent_search.fold', 'select fold_name($1) as folded'),
  agents: {
    handle: agentsBy('handle'),
    name: agentsBy('name'),
    part: agentsBy('part'),
    likeness: agentsBy('likeness'),
  },
  contacts: {
    handle: contactsBy('handle'),
    name: contactsBy('name'),
    part: contactsBy('part'),
    likeness: contactsBy('likeness'),
  },
};

export interface MatchFilter {
  viewer_id: string;
  /** As `fold` answers it. */
  text: string;
  after: MatchPosition | null;
  limit: number;
}

const values = ({ viewer_id, text, after, limit }: MatchFilter) => [
  viewer_id,
  text,
  after?.key ?? '',
  after?.id ?? '',
  limit,
];

export function agentSearchRepository(db: Queryable) {
  return {
    /** Best first. */
    matchKinds: matchKinds,
    /** A text as names are compared: in one Unicode form, without accents, in lower case. */
    async fold(text: string): Promise<string> {
      const [row] = await db.query<{ folded: string }>(statements.fold, [text]);
      if (!row) throw new Error('the text was not folded');
      return row.folded;
    },
    /** Agents that the viewer sees and that match in one way and in no better one. */
    listAgents(way: MatchKind, filter: MatchFilter): Promise<(AgentSummaryRow & { key: string })[]> {
      return db.query<AgentSummaryRow & { key: string }>(statements.agents[way], values(filter));
    },
    /** The viewer's contacts that match in one way and in no better one. */
    listContacts(way: MatchKind, filter: MatchFilter): Promise<(ContactRow & { key: string })[]> {
      return db.query<ContactRow & { key: string }>(statements.contacts[way], values(filter));
    },
  };
}
