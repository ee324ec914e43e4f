import { fails, listed, opened, read, runs, sent, waited, type Mistake } from './mistake.ts';

/** Names of tools. */
export const toolNames: readonly Mistake[] = [
  runs('a tool in camel case', ['sendMessage', sent[1]], sent),
  runs('a tool in capitals', ['LIST_THREADS', {}], listed),
  runs('a tool with hyphens', ['send-message', sent[1]], sent),
  runs('a tool behind a dot', ['messages.send_message', sent[1]], sent),
  runs('a tool behind the name of a server', ['mcp__ams__list_threads', {}], listed),
  runs('a tool behind a colon', ['ams:getThread', read[1]], read),
  runs('a tool behind a slash', ['ams/wait-for-events', waited[1]], waited),
  runs('list_messages', ['list_messages', { thread_id: 'THREAD', limit: 5 }], read),
  runs('get_messages', ['get_messages', read[1]], read),
  runs('getMessages behind a prefix', ['messaging__getMessages', read[1]], read),
  fails('reply', ['reply', sent[1]], 'Unknown tool: reply; did you mean send_message?', sent),
  fails('a misspelled tool', ['send_mesage', sent[1]], /did you mean send_message\?$/, sent),
  fails('the name of REST', ['read_attachment', {}], /did you mean get_attachment\?$/, [
    'get_attachment',
    { attachment_id: 'FILE' },
  ]),
  fails('subscribe', ['subscribe', {}], /did you mean wait_for_events\?$/, waited),
  fails('get_me', ['get_me', {}], /did you mean whoami\?$/, ['whoami', {}]),
  fails('create_conversation', ['create_conversation', {}], /did you mean create_thread\?$/, opened),
  fails('close_thread', ['close_thread', read[1]], /did you mean update_thread\?$/, [
    'update_thread',
    { thread_id: 'ACTIVE', status: 'closed' },
  ]),
  fails('find_agent', ['find_agent', {}], /did you mean search_agents\?$/, ['search_agents', { q: 'x' }]),
  fails('download_attachment', ['download_attachment', {}], /did you mean get_attachment\?$/, [
    'get_attachment',
    { attachment_id: 'FILE' },
  ]),
  fails('a tool of another service', ['run_sql_query_on_db', {}], /Tools: whoami, .*list_threads/, listed),
];
