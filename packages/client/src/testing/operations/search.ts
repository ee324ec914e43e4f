import { wrongField } from '../../../../core/src/domain/errors.ts';
import { findHits, parseSearch, type SearchTerm } from '../../../../core/src/domain/search/query.ts';
import { createSnippet } from '../../../../core/src/domain/search/snippets.ts';
import { tokenize } from '../../../../core/src/domain/search/tokenizer.ts';
import { searchAgentsInput, searchMessagesInput } from '../../../../core/src/inputs/search.ts';
import { presentAgentSummary } from '../../../../core/src/records/agent.ts';
import { presentMessage } from '../../../../core/src/records/message.ts';
import type { Agent, Message } from '../core/records.ts';
import { type Call, defineHandler, type State } from '../core/state.ts';
import { isClose, presentAgent, toAgentId } from './agents.ts';
import { listContactRecords } from './contacts.ts';
import { readPage } from '../core/pages.ts';
import { requireThread } from './thread-records.ts';

/** Lower case without accents. */
const fold = (text: string): string => text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase();

function requireQuery(q: string): string {
  const text = fold(q.trim().replace(/^@/, '').trim());
  if (text === '') throw wrongField('q', 'must not be empty');
  return text;
}

/** Names that begin with the text come before names that contain it; the service also tolerates typing errors. */
function rank(
  { canonical_handle, display_name }: { canonical_handle: string; display_name: string },
  text: string,
) {
  const names = [canonical_handle, fold(display_name)];
  if (names.some((name) => name.startsWith(text))) return 1;
  return text.length >= 3 && names.some((name) => name.includes(text)) ? 2 : 0;
}

function findAgents(call: Call, text: string): Agent[] {
  const { me, state } = call;
  const isFound = (agent: Agent) =>
    !agent.is_retired &&
    (agent.visibility !== 'unlisted' || agent.canonical_handle === text) &&
    (agent.visibility === 'public' || isClose(me, agent));
  const order = (a: Agent, b: Agent) =>
    rank(a, text) - rank(b, text) || (a.canonical_handle < b.canonical_handle ? -1 : 1);
  return [...state.agents.values()].filter((agent) => isFound(agent) && rank(agent, text) > 0).sort(order);
}

function matches(content: string, terms: readonly SearchTerm[]): boolean {
  const words = tokenize(content);
  return terms.every((term) => findHits(term, words).length > 0 !== term.isExcluded);
}

const toSummary = (state: State, agent: Agent) => presentAgentSummary(presentAgent(state, agent));

export const searchHandlers = {
  search_agents: defineHandler(searchAgentsInput, (call, { q, ...page }) => {
    const text = requireQuery(q);
    const list = () => findAgents(call, text);
    const { rows, next_cursor } = readPage(call, page, ['search_agents', text], list);
    return { agents: rows.map((agent) => toSummary(call.state, agent)), next_cursor };
  }),
  search_agents_and_contacts: defineHandler(searchAgentsInput, (call, { q, ...page }) => {
    const text = requireQuery(q);
    const list = () => findAgents(call, text);
    const { rows, next_cursor } = readPage(call, page, ['search', text], list);
    const ids = new Set(rows.map(({ id }) => id));
    const contacts = listContactRecords(call.state, call.me).filter(({ agent_id }) => ids.has(agent_id));
    const agents = rows.map((agent) => toSummary(call.state, agent));
    return { agents, contacts, people: [], organizations: [], next_cursor };
  }),
  search_messages: defineHandler(searchMessagesInput, (call, { limit, cursor, ...filter }) => {
    const { state, me } = call;
    const { q, thread_id, counterpart, from, after = 0, before = Infinity, has } = filter;
    const terms = parseSearch(q, 'q');
    if (thread_id !== undefined) requireThread(call, thread_id);
    const other = counterpart === undefined ? undefined : toAgentId(state, counterpart);
    const sender = from === undefined ? undefined : toAgentId(state, from);
    const isReadable = (id: string) => {
      const members = state.threads.get(id)?.members ?? [];
      const isMember = (agent: string) => members.some((member) => member.id === agent);
      return isMember(me.id) && (other === undefined || isMember(other));
    };
    const isFound = (message: Message) =>
      isReadable(message.thread_id) &&
      (thread_id === undefined || message.thread_id === thread_id) &&
      (sender === undefined || message.sender_id === sender) &&
      message.created_at >= after &&
      message.created_at < before &&
      (has === undefined || message.attachments.length > 0) &&
      matches(message.content, terms);
    const list = () => [...state.messages.values()].filter(isFound).toReversed();
    const { rows, next_cursor } = readPage(call, { limit, cursor }, ['search_messages', filter], list);
    const results = rows.map((message) => ({
      thread_id: message.thread_id,
      message: presentMessage(message),
      snippet: createSnippet(message.content, terms),
    }));
    return { results, next_cursor };
  }),
};
