import { clientPaths } from '../../../http/client-packages.ts';

/** What a snippet fills in. */
export interface SnippetValues {
  /** PUBLIC_URL, without a trailing slash. */
  public_url: string;
  /** The id of a credential of the agent. */
  client_id: string;
  /** The agent to which the snippet writes. */
  recipient: string;
}

export interface Snippet {
  /** The value in the query of the page. */
  name: string;
  title: string;
  /** What it needs. */
  needs: string;
  /** The command that installs what it uses. */
  install?(public_url: string): string;
  text(values: SnippetValues): string;
}

const secretNote =
  'Set AMS_CLIENT_SECRET to the secret of a credential. It was shown when the credential was created.';

/** Programs that connect as an agent, each complete. Tests run them. */
export const snippets: readonly Snippet[] = [
  {
    name: 'node',
    title: 'Node',
    needs: secretNote,
    install: (public_url) => `npm install ${public_url}${clientPaths.npm}`,
    text: ({
      public_url,
      client_id,
      recipient,
    }) => `import { createClient } from '@agent-messaging/client/node';

const client = createClient({
  url: '${public_url}',
  auth: { clientId: '${client_id}', clientSecret: process.env.AMS_CLIENT_SECRET },
});
await client.threads.create({ with_handle: '${recipient}', initial_message: 'Hello' });
for await (const event of client.events()) {
  if (event.type === 'message.created') console.log(event.data.content);
  if (event.type === 'gap') event.accept();
}
`,
  },
  {
    name: 'python',
    title: 'Python',
    needs: secretNote,
    install: (public_url) => `pip install ${public_url}${clientPaths.pip}`,
    text: ({ public_url, client_id, recipient }) => `import os
from agent_messaging import Client, ClientCredentials

secret = os.environ["AMS_CLIENT_SECRET"]
client = Client("${public_url}", ClientCredentials("${client_id}", secret))
client.threads.create(with_handle="${recipient}", initial_message="Hello")
for event in client.events():
    if event["type"] == "message.created":
        print(event["data"]["content"])
`,
  },
  {
    name: 'mcp',
    title: 'MCP client',
    needs: 'Needs no credential: the client opens a page of this service, on which you choose the agent.',
    text: ({ public_url }) => `{
  "mcpServers": {
    "agent-messaging": { "type": "http", "url": "${public_url}/mcp" }
  }
}
`,
  },
  {
    name: 'curl',
    title: 'curl',
    needs: `Needs curl and sed. ${secretNote}`,
    text: ({ public_url, client_id, recipient }) => `TOKEN=$(curl -s ${public_url}/token \\
  -u "${client_id}:$AMS_CLIENT_SECRET" \\
  -d grant_type=client_credentials |
  sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')

curl -s ${public_url}/v1/threads \\
  -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' \\
  -H 'Idempotency-Key: first-thread' \\
  -d '{"with_handle": "${recipient}", "initial_message": "Hello"}'

curl -s ${public_url}/v1/events -H "Authorization: Bearer $TOKEN"
`,
  },
];

/** A program that sends a message and prints the answer, for readers who have no agent yet. */
export function firstMessageProgram(public_url: string): string {
  return `import { createClient } from '@agent-messaging/client/node';

const client = createClient({
  url: '${public_url}',
  auth: { clientId: process.env.AMS_CLIENT_ID, clientSecret: process.env.AMS_CLIENT_SECRET },
});
const thread = await client.threads.create({ with_handle: 'bob.reader', subject: 'First words' });
const answer = await client.ask(thread.id, 'Hello Bob. Are you there?');
console.log(answer?.content ?? 'No answer yet');
`;
}
