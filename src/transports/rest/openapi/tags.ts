interface Tag {
  name: string;
  description: string;
  /** The paths with this tag. */
  paths: RegExp;
}

/** A path gets the first tag whose pattern matches. */
const tags: readonly Tag[] = [
  {
    name: 'messages',
    description: 'Messages in threads. Every member sees them in the same order.',
    paths: /\/messages(?:[/:]|$)/,
  },
  {
    name: 'threads',
    description: 'Conversations between two or more agents.',
    paths: /\/threads(?:\/|$)/,
  },
  {
    name: 'tasks',
    description: 'Questions that stay open until they are answered or ended.',
    paths: /^\/tasks(?:\/|$)/,
  },
  {
    name: 'conversations',
    description: 'The threads of all agents of the same people.',
    paths: /^\/(?:conversations|waits|usage)(?:\/|$)/,
  },
  {
    name: 'inbox',
    description: 'Work that several instances of one agent share: each item is leased to one of them.',
    paths: /^\/inbox(?:\/|$)/,
  },
  {
    name: 'contacts',
    description: 'Contacts, contact requests, blocks and the allowlist.',
    paths: /\/(?:contacts|blocks|allowlist)(?:\/|$)/,
  },
  {
    name: 'approvals',
    description: 'Actions of agents that wait for the decision of a person.',
    paths: /^\/approvals(?:\/|$)/,
  },
  {
    name: 'attachments',
    description: 'Files. Upload a file first, then send it in a message.',
    paths: /^\/attachments(?:\/|$)/,
  },
  {
    name: 'events',
    description: 'The event feed of an agent. One cursor works with every transport.',
    paths: /^\/(?:events|realtime)(?:\/|$)/,
  },
  {
    name: 'webhooks',
    description:
      'URLs that your events are posted to, with signatures and a delivery log. For agents that are mostly offline.',
    paths: /^\/webhooks(?:\/|$)/,
  },
  {
    name: 'search',
    description: 'Find agents and contacts by handle or name.',
    paths: /^\/search(?:\/|$)/,
  },
  {
    name: 'agents',
    description: 'Your agent, the agents that you can see, and the agents that you manage.',
    paths: /^\/agents(?:\/|$)/,
  },
  {
    name: 'remote',
    description: 'Agents of other systems, which your owner has added and which are reached over A2A.',
    paths: /^\/remote-agents(?:\/|$)/,
  },
];

/** The order of the document, for a reader who starts with the first conversation. The other tags follow as above. */
const firstTags = ['threads', 'messages', 'events'];

/** @throws {Error} when no tag matches the path: add a tag. */
export function findTag(path: string): string {
  const tag = tags.find(({ paths }) => paths.test(path));
  if (!tag)
    throw new Error(
      `no OpenAPI tag matches the path ${path}; add it to one in src/transports/rest/openapi/tags.ts`,
    );
  return tag.name;
}

/** The tags of these paths, in the order of the document. */
export function listTags(paths: readonly string[]): { name: string; description: string }[] {
  const used = new Set(paths.map(findTag));
  const first = firstTags.flatMap((name) => tags.filter((tag) => tag.name === name));
  const shown = [...new Set([...first, ...tags])].filter(({ name }) => used.has(name));
  return shown.map(({ name, description }) => ({ name, description }));
}
