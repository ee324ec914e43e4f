import { type AgentSummaryRow, summaryColumns } from './agents.ts';
import { contactColumns, type ContactRow, sameOwnerContactIds } from '../contacts/contacts.ts';
import { type NamedStatement, query, type Queryable, statement } from '../queryable.ts';

/**
 * How an agent can match, best first: the handle begins with the text (an exact handle first), the display name begins with it, either
 * contains it (at the start of a word first), or a word of either is similar.
 */
const matchKinds = ['handle', 'name', 'part', 'likeness'] as const;

export type MatchKind = (typeof matchKinds)[number];

/** The position of a match among those of its kind. */
export interface MatchPosition {
  key: string;
  id: string;
}

/** `:text` is the folded search text; the page begins after the position (`:after_key`, `:after_id`). */
const isPrefixOf = (column: string) => `starts_with(${column}, :text)`;
const isPrefix = `(${isPrefixOf('a.canonical_handle')} or ${isPrefixOf('a.search_name')})`;
const isPart = `octet_length(:text) >= 3 and strpos(a.search_text, :text) > 0`;
const isAfter = (key: string) => `(${key} collate "C", a.id) > (:after_key, :after_id)`;

/** A range and not LIKE: it uses the index for any text, and begins where the page begins. */
const inRange = (column: string) => `${column} >= greatest(:text collate "C", :after_key)
  and ${column} < :text || chr(1114111) and not (${column} = :after_key and a.id <= :after_id)`;

const wordStart = `case when strpos(' ' || translate(a.search_text, '.-_', '   '), ' ' || :text) > 0 then '0' else '1' end`;

/** A sort key with the most similar first. */
const unlikeness = (likeness: string) => `lpad((1000 - round(${likeness} * 1000))::int::text, 4, '0')`;
const ownLikeness = `word_similarity(:text, a.search_text)`;

/** Conditions on agents `a` for a match of each kind and of no better kind. */
const matches: Record<MatchKind, { key: string; where: string }> = {
  handle: { key: 'a.canonical_handle', where: inRange('a.canonical_handle') },
  name: {
    key: 'a.search_name',
    where: `${inRange('a.search_name')} and not ${isPrefixOf('a.canonical_handle')}`,
  },
  part: { key: wordStart, where: `${isPart} and not ${isPrefix} and ${isAfter(wordStart)}` },
  likeness: {
    key: unlikeness(ownLikeness),
    where: `octet_length(:text) >= 3 and strpos(a.search_text, :text) = 0 and ${ownLikeness} >= 0.3
      and ${isAfter(unlikeness(ownLikeness))}`,
  },
};

const fromPublic = `from agents a where a.visibility = 'public' and a.retired_at is null and`;

/** Matches among all public agents: each kind has its own index. */
const publicMatches: Record<MatchKind, string> = {
  handle: `select a.id, a.canonical_handle as key ${fromPublic} ${matches.handle.where} order by 2, 1 limit :limit`,
  name: `select a.id, a.search_name as key ${fromPublic} ${matches.name.where} order by 2, 1 limit :limit`,
  part: `select a.id, a.key from public_agents_with(:text, :after_key, :after_id, :limit) a where octet_length(:text) >= 3`,
  likeness: `select a.id, ${unlikeness('a.likeness')} as key from public_agents_like(:text, 1000) a
    where octet_length(:text) >= 3 and ${isAfter(unlikeness('a.likeness'))} order by 2, 1 limit :limit`,
};

/**
 * Agents that the viewer sees although they may not be public, for the reasons in `seenAgents`: a small set, fetched by id. A hidden
 * agent is never read, so the response time does not reveal it.
 */
const relatedIds = `select a.id from agents me join agents a on a.owner_id = me.owner_id where me.id = :viewer_id
  union all select c.contact_id from contacts c where c.agent_id = :viewer_id
  union all select t.agent_id from thread_members m join thread_members t using (thread_id) where m.agent_id = :viewer_id
  union all select q.from_agent_id from contact_requests q where q.to_agent_id = :viewer_id`;

const contactIds = `select c.contact_id from contacts c where c.agent_id = :viewer_id
  union all ${sameOwnerContactIds(':viewer_id')}`;

/**
 * Unlisted agents match by their exact handle only. Similarity is expensive: it compares only the newest thousand agents, as for public
 * agents.
 */
const agentsByIds = (
  ids: string,
  kind: MatchKind,
) => `select a.id, a.canonical_handle, a.search_name, a.search_text
  from agents a where a.id = any (array(${ids})) and a.retired_at is null
    and (a.visibility <> 'unlisted' or a.canonical_handle = :text)
  ${kind === 'likeness' ? 'order by a.id desc limit 1000' : ''}`;

function agentsBy(kind: MatchKind): NamedStatement {
  const { key, where } = matches[kind];
  return statement(
    `agent_search.list_agents_by_${kind}`,
    `with related as materialized (${agentsByIds(relatedIds, kind)}), found as (
       (${publicMatches[kind]})
       union
       (select a.id, ${key} as key from related a where ${where} order by 2, 1 limit :limit)
     ), best as (select id, key collate "C" as key from found order by 2, 1 limit :limit)
     select ${summaryColumns}, best.key from best join agents a using (id) order by best.key, a.id`,
  );
}

function contactsBy(kind: MatchKind): NamedStatement {
  const { key, where } = matches[kind];
  return statement(
    `agent_search.list_contacts_by_${kind}`,
    `with contact as materialized (${agentsByIds(contactIds, kind)}),
     best as (select a.id, ${key} collate "C" as key from contact a where ${where} order by 2, 1 limit :limit)
     select ${contactColumns}, best.key
     from best join agents a using (id) join agents me on me.id = :viewer_id
     left join contacts c on c.agent_id = me.id and c.contact_id = a.id
     order by best.key, a.id`,
  );
}

const statements = {
  fold: statement('agent_search.fold', 'select fold_name(:text) as folded'),
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
  /** The result of `fold`. */
  text: string;
  after: MatchPosition | null;
  limit: number;
}

const valuesOf = ({ viewer_id, text, after, limit }: MatchFilter) => {
  return { viewer_id, text, after_key: after?.key ?? '', after_id: after?.id ?? '', limit };
};

export function agentSearchRepository(db: Queryable) {
  return {
    /** Best first. */
    matchKinds,
    /** Folds a text for comparison with names: one Unicode form, no accents, lower case. */
    async fold(text: string): Promise<string> {
      const [row] = await query<{ folded: string }>(db, statements.fold, { text });
      if (!row) throw new Error('fold_name returned no row');
      return row.folded;
    },
    /** Agents that the viewer sees and that match in this way and in no better one. */
    listAgents(kind: MatchKind, filter: MatchFilter): Promise<(AgentSummaryRow & { key: string })[]> {
      return query<AgentSummaryRow & { key: string }>(db, statements.agents[kind], valuesOf(filter));
    },
    /** The viewer's contacts that match in this way and in no better one. */
    listContacts(kind: MatchKind, filter: MatchFilter): Promise<(ContactRow & { key: string })[]> {
      return query<ContactRow & { key: string }>(db, statements.contacts[kind], valuesOf(filter));
    },
  };
}
