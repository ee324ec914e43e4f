/** The people of the table. `owner` has a personal agent; `member`, `colleague`, `admin` and `former` are or were in the organization. */
export const roleNames = [
  'owner',
  'admin',
  'member',
  'colleague',
  'former',
  'stranger',
  'signed out',
] as const;
export type Role = (typeof roleNames)[number];

/** The agents, and all that belongs to each: `shared` of the organization, `linked` with its member. */
export const kinds = ['personal', 'shared', 'linked'] as const;
export type Kind = (typeof kinds)[number];

/** Which roles open a page about something that belongs to an agent of each kind. The others get 404, as for what does not exist. */
export const agentRules = {
  manages: { personal: ['owner'], shared: ['admin'], linked: ['admin', 'member'] },
  'acts as': { personal: ['owner'], shared: ['admin'], linked: ['member'] },
} as const satisfies Record<string, Record<Kind, readonly Role[]>>;

/** Which roles open a page of the organization. Other members, who know it, get 403 with the reason. */
export const organizationRules = {
  'is in the organization': ['admin', 'member', 'colleague'],
  'is an admin': ['admin'],
  'is an admin or the member named': ['admin', 'colleague'],
} as const satisfies Record<string, readonly Role[]>;

/** `signed out`: the others are led to the console. */
export type Rule =
  | 'everybody'
  | 'signed out'
  | 'signed in'
  | keyof typeof agentRules
  | keyof typeof organizationRules;

/** Every page and live stream of the console, and who may open it. A new page needs a row. */
export const pageRules: Readonly<Record<string, Rule>> = {
  '/': 'everybody',
  '/sign-in': 'signed out',
  '/sign-up': 'signed out',
  '/console': 'signed in',
  '/console/find': 'signed in',
  '/console/keys': 'signed in',
  '/console/account': 'signed in',
  '/console/agents': 'signed in',
  '/console/agents/new': 'signed in',
  '/console/agents/:id': 'manages',
  '/console/agents/:id/allowlist': 'acts as',
  '/console/agents/:id/blocks': 'acts as',
  '/console/agents/:id/connect': 'acts as',
  '/console/agents/:id/contacts': 'acts as',
  '/console/agents/:id/contacts/:contact_id/remove': 'acts as',
  '/console/agents/:id/contacts/new': 'acts as',
  '/console/agents/:id/credentials': 'acts as',
  '/console/agents/:id/credentials/:client_id/revoke': 'acts as',
  '/console/agents/:id/credentials/:client_id/rotate': 'acts as',
  '/console/agents/:id/credentials/new': 'acts as',
  '/console/agents/:id/delete': 'manages',
  '/console/agents/:id/erase': 'manages',
  '/console/agents/:id/inbox': 'acts as',
  '/console/agents/:id/inbox/dead/:item_id/delete': 'acts as',
  '/console/agents/:id/inbox/off': 'acts as',
  '/console/agents/:id/inbox/settings': 'acts as',
  '/console/agents/:id/profile': 'manages',
  '/console/agents/:id/settings': 'manages',
  '/console/agents/:id/subscriptions': 'acts as',
  '/console/agents/:id/webhooks': 'acts as',
  '/console/agents/:id/webhooks/:webhook_id': 'acts as',
  '/console/agents/:id/webhooks/:webhook_id/deliveries': 'acts as',
  '/console/agents/:id/webhooks/:webhook_id/remove': 'acts as',
  '/console/agents/:id/webhooks/new': 'acts as',
  '/console/approvals': 'signed in',
  '/console/approvals/:id': 'acts as',
  '/console/audit': 'signed in',
  '/console/connections': 'signed in',
  '/console/conversations': 'signed in',
  '/console/conversations/:id': 'acts as',
  '/console/conversations/:id/raw': 'acts as',
  '/console/conversations/:id/watch': 'acts as',
  '/console/conversations/new': 'signed in',
  '/console/erasures': 'signed in',
  '/console/exports': 'signed in',
  '/console/live/agents/:id/contacts': 'acts as',
  '/console/live/approvals': 'signed in',
  '/console/live/approvals/:id': 'acts as',
  '/console/live/conversations': 'signed in',
  '/console/live/conversations/:id': 'acts as',
  '/console/live/home': 'signed in',
  '/console/live/waits': 'signed in',
  '/console/notifications': 'signed in',
  '/console/organizations': 'signed in',
  '/console/organizations/:slug': 'is in the organization',
  '/console/organizations/:slug/audit': 'is an admin',
  '/console/organizations/:slug/members/:username/remove': 'is an admin or the member named',
  '/console/remote-agents': 'signed in',
  '/console/remote-agents/new': 'signed in',
  '/console/remote-agents/invitations': 'signed in',
  '/console/sessions': 'signed in',
  '/console/usage': 'signed in',
  '/console/usage.csv': 'signed in',
  '/console/waits': 'signed in',
  '/console/webhooks': 'signed in',
};

/** Forms with another rule than the page below which they are. */
export const formRules: Readonly<Record<string, keyof typeof agentRules>> = {
  '/console/agents/:id/export': 'acts as',
  '/console/agents/:id/try': 'acts as',
};

/**
 * Pages whose rights are tested elsewhere: they show what another process has made or another program has asked, need a secret link, or
 * depend on a setting of the person.
 */
export const testedElsewhere: Readonly<Record<string, string>> = {
  '/authorize/requests/:uid': 'test/integration/console/oauth/consent.test.ts',
  '/console/conversations/:id/files/:file': 'test/integration/console/conversations/conversation.test.ts',
  '/console/conversations/:id/messages/:message_id': 'test/integration/console/conversations/trace.test.ts',
  '/console/conversations/:id/withdraw/:agent_id/:message_id':
    'test/integration/console/conversations/withdraw.test.ts',
  '/console/exports/:id/archive': 'test/integration/console/agents/export.test.ts',
  '/console/invitations/:secret': 'test/integration/console/organizations/invitation-links.test.ts',
  '/console/live/notifications': 'test/integration/notifications/open-page.test.ts',
  '/console/remote-agents/:id': 'test/integration/remote/console.test.ts',
  '/console/remote-agents/:id/remove': 'test/integration/remote/console.test.ts',
  '/notifications/confirm/:token': 'test/integration/notifications/mail.test.ts',
  '/notifications/unsubscribe/:key': 'test/integration/notifications/mail.test.ts',
  '/watch/:secret': 'test/integration/watch/page.test.ts',
  '/watch/:secret/files/:file': 'test/integration/watch/page.test.ts',
  '/watch/:secret/live': 'test/integration/watch/ending.test.ts',
};
