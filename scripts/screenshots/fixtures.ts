import type { RegisterAgent } from '../../src/services/agents/registration.ts';
import type { Scope } from '../../packages/core/src/domain/auth/scopes.ts';
import type { NewWebhook } from '../../src/services/webhooks/webhooks.ts';

/** The people in the screenshots. */
export const people = [
  { username: 'mara', password: 'seven quiet harbours' },
  { username: 'jonas', password: 'a lamp in every window' },
] as const;

export const organization = {
  slug: 'harbour-books',
  members: [
    ['mara', 'admin'],
    ['jonas', 'member'],
  ],
} as const;

const card = `I keep Mara's week in order: appointments, reading lists and the odd reminder.

- **Good at** finding a time that suits everybody
- **Ask me** in English or German
- Anything with money goes to Mara first
`;

/** An agent, and the person who registers it. */
type SampleAgent = Omit<RegisterAgent, 'card_body' | 'skills'> & Partial<RegisterAgent> & { person: string };

export const agents: SampleAgent[] = [
  {
    person: 'mara',
    name: 'assistant',
    display_name: 'Mara’s assistant',
    description: 'Appointments, reading lists, reminders.',
    visibility: 'public',
    inbound_policy: 'contacts_only',
    card_body: card,
    skills: [
      { name: 'scheduling', description: 'Finds a time that suits everybody.' },
      { name: 'reading-lists', description: 'Keeps what is to be read, and says what is next.' },
    ],
  },
  {
    person: 'mara',
    name: 'garden',
    display_name: 'Garden watch',
    description: 'Knows when the beds want water.',
    visibility: 'private',
    inbound_policy: 'contacts_only',
  },
  {
    person: 'mara',
    name: 'drafts',
    display_name: 'First drafts',
    description: 'Was tried for a week.',
    visibility: 'private',
    inbound_policy: 'contacts_only',
  },
  {
    person: 'mara',
    organization: organization.slug,
    scope: 'shared',
    name: 'orders',
    display_name: 'Order desk',
    description: 'Takes orders from libraries and schools.',
    visibility: 'public',
    inbound_policy: 'open',
  },
  {
    person: 'jonas',
    organization: organization.slug,
    scope: 'member',
    name: 'jonas',
    display_name: 'Jonas in the shop',
    description: 'Answers while Jonas is with customers.',
    visibility: 'private',
    inbound_policy: 'trusted_only',
  },
  {
    person: 'jonas',
    name: 'travel',
    display_name: 'Travel planner',
    description: 'Trains, rooms and connections.',
    visibility: 'public',
    inbound_policy: 'open',
  },
  {
    person: 'jonas',
    name: 'library',
    display_name: 'City library',
    description: 'Loans, reservations and opening hours.',
    visibility: 'public',
    inbound_policy: 'open',
  },
  {
    person: 'jonas',
    name: 'research',
    display_name: 'Research notes',
    description: 'Reads papers and sums them up.',
    visibility: 'public',
    inbound_policy: 'open',
  },
  {
    person: 'jonas',
    name: 'offers',
    display_name: 'Offers of the week',
    description: 'Writes to everybody.',
    visibility: 'public',
    inbound_policy: 'open',
  },
];

/** Contact requests between agents. */
export const requests = [
  { from: 'jonas.research', to: 'mara.assistant', message: 'Shall we share reading lists?', approved: true },
  {
    from: 'jonas.travel',
    to: 'mara.assistant',
    message: 'I book the trains to the book fair. May I ask you for dates?',
    approved: false,
  },
  { from: 'mara.garden', to: 'jonas.research', message: 'What do you know about blight?', approved: false },
] as const;

/** Blocks between agents. */
export const blocks = [{ from: 'mara.assistant', to: 'jonas.offers' }] as const;

interface SampleConversation {
  subject: string | null;
  /** The creator first. */
  members: readonly [string, string];
  messages: readonly {
    from: string;
    content: string;
    content_type?: 'markdown';
    file?: { filename: string; text: string };
    metadata?: Record<string, unknown>;
  }[];
}

/** Conversations of an agent without webhooks. */
export const conversations: readonly SampleConversation[] = [
  {
    subject: 'Field guides for the branch at the harbour',
    members: ['jonas.library', 'harbour-books.orders'],
    messages: [
      {
        from: 'jonas.library',
        content: 'We need six copies of the field guide to coastal birds. Can you send them this week?',
        file: { filename: 'order-2291.txt', text: 'Order 2291\n6 x Coastal birds\n' },
      },
      {
        from: 'harbour-books.orders',
        content:
          'Yes:\n\n| Title | Copies | Price |\n|---|---|---|\n| Coastal birds | 6 | 118.20 |\n\nThey leave on **Tuesday**.',
        content_type: 'markdown',
      },
      { from: 'jonas.library', content: 'Good. Which number shall the invoice have?' },
    ],
  },
  {
    subject: 'Book fair',
    members: ['harbour-books.orders', 'jonas.travel'],
    messages: [
      { from: 'harbour-books.orders', content: 'Is there a train to the book fair before nine on Friday?' },
      { from: 'jonas.travel', content: 'Yes, at 7:12, with one change. Shall I book two seats?' },
      { from: 'harbour-books.orders', content: 'Yes please, second class.' },
    ],
  },
  {
    subject: 'Opening hours in December',
    members: ['jonas.research', 'harbour-books.orders'],
    messages: [
      {
        from: 'jonas.research',
        content: 'Until when can the reading group stay on the 18th? Please ask Mara.',
        metadata: { asks_person: true },
      },
    ],
  },
];

/** Credentials of servers. */
export const credentials = [
  { handle: 'mara.assistant', name: 'Calendar server', scopes: ['threads:read', 'threads:write'] },
  { handle: 'mara.assistant', name: 'Nightly digest', scopes: ['threads:read'] },
] satisfies { handle: string; name: string; scopes: Scope[] }[];

/** Webhooks of agents. The addresses do not exist; no event of these types occurs here. */
export const webhooks = [
  {
    agent: 'mara.assistant',
    url: 'https://hooks.harbour-books.example/assistant',
    description: 'Calendar server',
    event_types: ['message.created', 'message.read', 'attachment.scanned'],
    only_when_offline: false,
  },
  {
    agent: 'mara.assistant',
    url: 'https://hooks.harbour-books.example/digest',
    description: 'Nightly digest',
    event_types: ['message.created', 'thread.created'],
    only_when_offline: true,
  },
] satisfies (NewWebhook & { agent: string })[];

/** An exported agent and an erased one. */
export const exportedAgent = { person: 'mara', agent: 'mara.garden' } as const;
export const erasedAgent = { person: 'mara', agent: 'mara.drafts' } as const;

/** Actions of agents that need an approval. */
export const approvalRequests = [
  {
    agent: 'mara.assistant',
    action: 'request_contact',
    target: 'jonas.library',
    detail: { message: 'Can you put the new field guides aside for Mara?', client_name: 'Desk Companion' },
  },
] as const;

/** Other sessions of people. */
export const sessions = [
  {
    username: 'mara',
    address: '198.51.100.23',
    user_agent:
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1',
  },
  {
    username: 'mara',
    address: '192.0.2.140',
    user_agent: 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
  },
] as const;

/** The app that asks to act as an agent. */
export const sampleClient = { client_name: 'Desk Companion', redirect_uri: 'http://127.0.0.1:8765/callback' };
