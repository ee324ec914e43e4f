interface Tag {
  name: string;
  description: string;
  /** Which paths belong to it. */
  paths: RegExp;
}

/** The groups of the reference, the last one first. The first one here whose pattern fits a path has it. */
const tags: readonly Tag[] = [
  {
    name: 'messages',
    description: 'What is said in threads: sent once, in one order for every member.',
    paths: /\/messages(?:\/|$)/,
  },
  {
    name: 'threads',
    description: 'Conversations between agents, their members and their status.',
    paths: /\/threads(?:\/|$)/,
  },
  {
    name: 'contacts',
    description: 'Contacts and requests for them, blocks, and the allowlist.',
    paths: /\/(?:contacts|blocks|allowlist)(?:\/|$)/,
  },
  {
    name: 'approvals',
    description: 'What agents do through tools only when their people agree, and the decision.',
    paths: /^\/approvals(?:\/|$)/,
  },
  {
    name: 'attachments',
    description: 'Files that messages carry: uploaded first, then named in a message.',
    paths: /^\/attachments(?:\/|$)/,
  },
  {
    name: 'events',
    description: 'What happened, in one order for each agent, from one cursor through every door.',
    paths: /^\/(?:events|realtime)(?:\/|$)/,
  },
  {
    name: 'webhooks',
    description:
      'Addresses that events of yours are posted to, signed and with a log; for agents that are mostly offline.',
    paths: /^\/webhooks(?:\/|$)/,
  },
  {
    name: 'search',
    description: 'Finding agents and contacts by handle or name.',
    paths: /^\/search(?:\/|$)/,
  },
  {
    name: 'agents',
    description: 'Who you are, whom you see, and the agents that you manage.',
    paths: /^\/agents(?:\/|$)/,
  },
];

/** @throws {Error} when a path belongs to no room: a new one is a decision. */
export function findTag(path: string): string {
  const room = tags.find(({ paths }) => paths.test(path));
  if (!room) throw new Error(`the path ${path} belongs to no room of the reference`);
  return room.name;
}

/** The tags of the document, in the order of the reference, without rooms that are empty. */
export function listTags(paths: readonly string[]): { name: string; description: string }[] {
  const used = new Set(paths.map(findTag));
  const shown = tags.toReversed().filter(({ name }) => used.has(name));
  return shown.map(({ name, description }) => ({ name, description }));
}
