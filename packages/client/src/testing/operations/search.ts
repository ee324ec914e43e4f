import { presentAgent, relate, toAgentId } from './agents.ts';
import { listContactRecords } from './contacts.ts';
import { readPage, type PageInput } from './pages.ts';
import type { Agent, Message } from '../core/records.ts';
import { wrongField } from '../core/service-error.ts';
import type { Call, Handler } from '../core/state.ts';
import { presentMessage, requireThread } from './thread-records.ts';

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
  const isFound = (agent: Agent) => {
    const { self, same_owner, contact } = relate(me, agent);
    if (agent.visibility === 'unlisted' && agent.canonical_handle !== text) return false;
    return !agent.is_retired && (agent.visibility === 'public' || self || same_owner || contact);
  };
  const order = (a: Agent, b: Agent) =>
    rank(a, text) - rank(b, text) || (a.canonical_handle < b.canonical_handle ? -1 : 1);
  return [...state.agents.values()].filter((agent) => isFound(agent) && rank(agent, text) > 0).sort(order);
}

interface Term {
  text: string;
  isPhrase: boolean;
  isExcluded: boolean;
  isPrefix: boolean;
}

const wordPattern = /[\p{L}\p{N}_]+/gu;

function parseTerms(q: string): Term[] {
  const terms = Array.from(q.matchAll(/(-)?(?:"([^"]*)"?|([^\s"]+))/gu), ([, minus, phrase, bare = '']) => ({
    text: (fold(phrase ?? bare).match(wordPattern) ?? []).join(' '),
    isPhrase: phrase !== undefined,
    isExcluded: minus !== undefined,
    isPrefix: bare.endsWith('*'),
  })).filter(({ text }) => text !== '');
  if (terms.every(({ isExcluded }) => isExcluded))
    throw wrongField('q', 'must name at least one word to find');
  return terms;
}

function matches(content: string, terms: readonly Term[]): boolean {
  const words = ` ${(fold(content).match(wordPattern) ?? []).join(' ')} `;
  return terms.every(
    ({ text, isExcluded, isPrefix }) => words.includes(isPrefix ? ` ${text}` : ` ${text} `) !== isExcluded,
  );
}

/** The beginning of the text, with the words that were found in bold. Words with other accents are not marked. */
function createSnippet(content: string, terms: readonly Term[]): string {
  const text = content.replaceAll(/\s+/gu, ' ').trim();
  const start = text.slice(0, 160);
  const patterns = terms
    .filter(({ isExcluded }) => !isExcluded)
    .map(
      (term) => `${term.text.replaceAll(' ', '[^\\p{L}\\p{N}_]+')}${term.isPrefix ? '[\\p{L}\\p{N}_]*' : ''}`,
    );
  const found = new RegExp(`(?<![\\p{L}\\p{N}_])(?:${patterns.join('|')})(?![\\p{L}\\p{N}_])`, 'giu');
  const marked = start.replaceAll(found, (match) => match.replaceAll(wordPattern, '**$&**'));
  return text.length > start.length ? `${marked}…` : marked;
}

interface SearchMessages extends PageInput {
  q: string;
  thread_id?: string;
  counterpart?: string;
  from?: string;
  after?: number;
  before?: number;
  has?: 'attachment';
}

interface SearchInput extends PageInput {
  q: string;
}

export const searchHandlers = {
  search_agents(call: Call, { q, ...page }: SearchInput) {
    const text = requireQuery(q);
    const list = () => findAgents(call, text);
    const { rows, next_cursor } = readPage(call, page, ['search_agents', text], list);
    return { agents: rows.map((agent) => presentAgent(call.state, agent, { withCard: false })), next_cursor };
  },
  search_agents_and_contacts(call: Call, { q, ...page }: SearchInput) {
    const text = requireQuery(q);
    const list = () => findAgents(call, text);
    const { rows, next_cursor } = readPage(call, page, ['search', text], list);
    const ids = new Set(rows.map(({ id }) => id));
    const contacts = listContactRecords(call.state, call.me).filter((contact) =>
      ids.has((contact as { agent_id: string }).agent_id),
    );
    const agents = rows.map((agent) => presentAgent(call.state, agent, { withCard: false }));
    return { agents, contacts, people: [], organizations: [], next_cursor };
  },
  search_messages(call: Call, { limit, cursor, ...filter }: SearchMessages) {
    const { state, me } = call;
    const { q, thread_id, counterpart, from, after = 0, before = Infinity, has } = filter;
    const terms = parseTerms(q);
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
      (sender === undefined || message.sender.id === sender) &&
      message.created_at >= after &&
      message.created_at < before &&
      (has === undefined || message.attachments.length > 0) &&
      matches(message.content, terms);
    const list = () => [...state.messages.values()].filter(isFound).toReversed();
    const page = cursor === undefined ? { limit } : { limit, cursor };
    const { rows, next_cursor } = readPage(call, page, ['search_messages', filter], list);
    const results = rows.map((message) => ({
      thread_id: message.thread_id,
      message: presentMessage(message),
      snippet: createSnippet(message.content, terms),
    }));
    return { results, next_cursor };
  },
} satisfies Record<string, Handler>;
