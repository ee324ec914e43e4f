import { findSimilar } from '../../../../packages/core/src/inputs/describe-issue.ts';
import { createJsonCounter } from '../../http/json-counter.ts';
import type { Tool } from './tools.ts';

/** The names of the tools, and how models write them. */
export interface ToolNames {
  /**
   * The name as the service spells it: differences in case, `-`, `_` and camel case, and a prefix that ends in `.`, `/`, `:` or `__` do not
   * matter. An unknown name stays as it is.
   */
  resolve(name: string): string;
  /** The tool that an unknown name most likely means. */
  findNearest(name: string, allowed: readonly Tool[]): string | undefined;
}

/** Other names of tools, without separators. They are not listed. */
const aliases: Record<string, string> = { listmessages: 'get_thread', getmessages: 'get_thread' };

/** Names that models try, without separators, where the most similar tool would be another one. */
const usualNames: Record<string, string> = {
  reply: 'send_message',
  replytomessage: 'send_message',
  respond: 'send_message',
  answer: 'send_message',
  postmessage: 'send_message',
  write: 'send_message',
  readmessages: 'get_thread',
  read: 'get_thread',
  openthread: 'get_thread',
  history: 'get_thread',
  search: 'search_messages',
  searchthreads: 'search_messages',
  contacts: 'list_contacts',
  listagents: 'search_agents',
  findagent: 'search_agents',
  getagent: 'get_agent_card',
  me: 'whoami',
  getprofile: 'whoami',
  checkinbox: 'list_threads',
  checkmessages: 'wait_for_events',
  receivemessages: 'wait_for_events',
  getevents: 'wait_for_events',
  listevents: 'wait_for_events',
  poll: 'wait_for_events',
  subscribe: 'wait_for_events',
  closethread: 'update_thread',
  archivethread: 'update_thread',
  deletethread: 'update_thread',
  renamethread: 'update_thread',
  newthread: 'create_thread',
  startthread: 'create_thread',
  createconversation: 'create_thread',
  startconversation: 'create_thread',
  directmessage: 'create_thread',
  sendfile: 'upload_attachment',
  attachfile: 'upload_attachment',
  downloadattachment: 'get_attachment',
  addcontact: 'request_contact',
  acceptcontactrequest: 'respond_to_contact_request',
  ack: 'acknowledge_events',
};

const maxNameLength = 200;

/** @throws {Error} when two tools have names that differ only in case or separators. */
export function createToolNames(tools: ReadonlyMap<string, Tool>): ToolNames {
  const byText = new Map(Object.entries(aliases));
  for (const name of tools.keys()) {
    const text = squash(name);
    if (byText.has(text)) throw new Error(`the name of the tool ${name} is too similar to another one`);
    byText.set(text, name);
  }
  const find = (name: string) => byText.get(squash(name)) ?? byText.get(squash(withoutPrefix(name)));
  return {
    resolve: (name) => (tools.has(name) || name.length > maxNameLength ? name : (find(name) ?? name)),
    findNearest(name, allowed) {
      const allowedNames = new Set(allowed.map(({ definition }) => definition.name));
      const text = squash(withoutPrefix(name.slice(0, maxNameLength)));
      const meantName = Object.hasOwn(usualNames, text) ? usualNames[text] : undefined;
      if (meantName !== undefined && allowedNames.has(meantName)) return meantName;
      // REST has other names for some tools.
      const byName = new Map(
        allowed.flatMap(({ operation, definition }) => [
          [squash(operation.name), definition.name],
          [squash(definition.name), definition.name],
        ]),
      );
      const similar = findSimilar(text, [...byName.keys()]);
      return similar === undefined ? undefined : byName.get(similar);
    },
  };
}

function squash(name: string): string {
  return name.toLowerCase().replaceAll(/[-_\s]/g, '');
}

function withoutPrefix(name: string): string {
  return name.replace(/^.*(?:[./:]|__)/s, '');
}

/**
 * A message or batch as the service takes it: each called tool has the name that the service gives it, so that scopes, approvals and headers
 * are checked for the tool that runs; arguments that are a JSON text are parsed.
 */
export function resolveToolCalls(names: ToolNames, message: unknown): unknown {
  if (Array.isArray(message)) return message.map((one: unknown) => resolveToolCall(names, one));
  return resolveToolCall(names, message);
}

function resolveToolCall(names: ToolNames, message: unknown): unknown {
  if (!isRecord(message) || message['method'] !== 'tools/call' || !isRecord(message['params']))
    return message;
  const { name, arguments: args } = message['params'];
  const changes = {
    ...(typeof name === 'string' && { name: names.resolve(name) }),
    ...(typeof args === 'string' && { arguments: parseArguments(args) }),
  };
  return { ...message, params: { ...message['params'], ...changes } };
}

/** The text stays as it is if it is not the JSON of an object. */
function parseArguments(text: string): unknown {
  if (text.trim() === '') return {};
  const counter = createJsonCounter();
  counter.add(Buffer.from(text));
  if (counter.hasTooMany()) return text;
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : text;
  } catch {
    return text;
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
