import { a2aMessagesRepository } from './a2a/messages.ts';
import { a2aTasksRepository } from './a2a/tasks.ts';
import { accountIdentitiesRepository } from './people/external-identities.ts';
import { accountsRepository } from './people/accounts.ts';
import { agentExportRepository } from './agents/export-data.ts';
import { agentExportsRepository } from './agents/exports.ts';
import { agentSearchRepository } from './agents/search.ts';
import { agentsRepository } from './agents/agents.ts';
import { allowlistsRepository } from './contacts/allowlist.ts';
import { approvalsRepository } from './agents/approvals.ts';
import { outgoingClearancesRepository } from './agents/outgoing-clearances.ts';
import { attachmentsRepository } from './attachments/attachments.ts';
import { auditLogRepository } from './audit-log.ts';
import { blocksRepository } from './contacts/blocks.ts';
import { clientGrantsRepository } from './auth/client-grants.ts';
import { contactRequestsRepository } from './contacts/requests.ts';
import { contactsRepository } from './contacts/contacts.ts';
import { conversationsRepository } from './threads/conversations.ts';
import { credentialsRepository } from './auth/credentials.ts';
import { expectedRepliesRepository } from './tasks/expected-replies.ts';
import { erasureRepository } from './agents/erase-data.ts';
import { erasuresRepository } from './agents/erasures.ts';
import { pushConfigsRepository } from './a2a/push-configs.ts';
import { eventSubscriptionsRepository } from './event-subscriptions/event-subscriptions.ts';
import { externalSignInsRepository } from './people/external-sign-ins.ts';
import { feedEpochRepository } from './feed/epoch.ts';
import { feedRepository } from './feed/feed.ts';
import { feedRetentionRepository } from './feed/retention.ts';
import { idempotencyKeysRepository } from './maintenance/idempotency-keys.ts';
import { inboxClaimsRepository } from './inbox/claims.ts';
import { inboxDeadItemsRepository } from './inbox/dead-items.ts';
import { inboxesRepository } from './inbox/inboxes.ts';
import { inboxHandledRepository } from './inbox/handled-items.ts';
import { inboxLeasesRepository } from './inbox/leases.ts';
import { inboxRetentionRepository } from './inbox/retention.ts';
import { invitationsRepository } from './people/invitations.ts';
import { livePagesRepository } from './people/live-pages.ts';
import { managedAgentsRepository } from './agents/managed-agents.ts';
import { mcpSessionsRepository } from './auth/mcp-sessions.ts';
import { membershipInvitationsRepository } from './people/membership-invitations.ts';
import { membershipsRepository } from './people/memberships.ts';
import { messageTracesRepository } from './messages/traces.ts';
import { messageRetentionRepository } from './messages/retention.ts';
import { messageWithdrawalsRepository } from './messages/withdrawals.ts';
import { messageSearchRepository } from './messages/search.ts';
import { messageBatchesRepository } from './messages/batches.ts';
import { messagesRepository } from './messages/messages.ts';
import { notificationChannelsRepository } from './notifications/channels.ts';
import { notificationMessagesRepository } from './notifications/messages.ts';
import { notificationSettingsRepository } from './notifications/settings.ts';
import { oauthClientsRepository } from './auth/oauth-clients.ts';
import { oauthRecordsRepository } from './auth/oauth-records.ts';
import { operatorListsRepository } from './maintenance/operator-lists.ts';
import { outboxRepository } from './maintenance/outbox.ts';
import { ownerSearchRepository } from './agents/owner-search.ts';
import { ownersRepository } from './people/owners.ts';
import { partitionsRepository } from './maintenance/partitions.ts';
import { agentStatesRepository } from './people/agent-states.ts';
import { personAgentsRepository } from './people/agents.ts';
import { dashboardRepository } from './people/dashboard.ts';
import { presenceRepository } from './agents/presence.ts';
import type { Queryable } from './queryable.ts';
import { remoteAgentsRepository } from './remote/agents.ts';
import { remoteInvitationsRepository } from './remote/invitations.ts';
import { remoteOrderRepository } from './remote/order.ts';
import { remoteWithdrawalsRepository } from './remote/withdrawals.ts';
import { remoteMessagesRepository } from './remote/messages.ts';
import { remoteThreadsRepository } from './remote/threads.ts';
import { exchangesRepository, rateLimitsRepository } from './maintenance/rate-limits.ts';
import { watchRaisedVersions } from './relation-versions.ts';
import { sessionsRepository } from './people/sessions.ts';
import { sealedValuesRepository } from './auth/sealed-values.ts';
import { signingKeysRepository } from './auth/signing-keys.ts';
import { streamTicketsRepository } from './auth/stream-tickets.ts';
import { tasksRepository } from './tasks/tasks.ts';
import { threadListRepository } from './threads/list.ts';
import { threadMarksRepository } from './threads/marks.ts';
import { threadMembersRepository } from './threads/members.ts';
import { threadsRepository } from './threads/threads.ts';
import { tokensRepository } from './auth/tokens.ts';
import { uploadsRepository } from './attachments/uploads.ts';
import { usageRepository } from './threads/usage.ts';
import { waitsRepository } from './threads/waits.ts';
import { watchLinksRepository } from './threads/watch-links.ts';
import { webhookDeliveriesRepository } from './webhooks/deliveries.ts';
import { webhookFeedsRepository } from './webhooks/feed-reading.ts';
import { webhooksRepository } from './webhooks/webhooks.ts';
import { workerNodesRepository } from './maintenance/worker-nodes.ts';

const factories = {
  agents: agentsRepository,
  remoteAgents: remoteAgentsRepository,
  remoteInvitations: remoteInvitationsRepository,
  remoteOrder: remoteOrderRepository,
  remoteWithdrawals: remoteWithdrawalsRepository,
  remoteMessages: remoteMessagesRepository,
  remoteThreads: remoteThreadsRepository,
  managedAgents: managedAgentsRepository,
  agentSearch: agentSearchRepository,
  ownerSearch: ownerSearchRepository,
  contacts: contactsRepository,
  contactRequests: contactRequestsRepository,
  blocks: blocksRepository,
  allowlists: allowlistsRepository,
  threads: threadsRepository,
  threadMarks: threadMarksRepository,
  threadList: threadListRepository,
  conversations: conversationsRepository,
  waits: waitsRepository,
  usage: usageRepository,
  threadMembers: threadMembersRepository,
  tasks: tasksRepository,
  a2aTasks: a2aTasksRepository,
  a2aMessages: a2aMessagesRepository,
  expectedReplies: expectedRepliesRepository,
  inboxes: inboxesRepository,
  inboxClaims: inboxClaimsRepository,
  inboxLeases: inboxLeasesRepository,
  inboxDeadItems: inboxDeadItemsRepository,
  inboxHandled: inboxHandledRepository,
  inboxRetention: inboxRetentionRepository,
  messages: messagesRepository,
  messageBatches: messageBatchesRepository,
  exchanges: exchangesRepository,
  messageSearch: messageSearchRepository,
  messageRetention: messageRetentionRepository,
  messageTraces: messageTracesRepository,
  messageWithdrawals: messageWithdrawalsRepository,
  agentExport: agentExportRepository,
  agentExports: agentExportsRepository,
  erasure: erasureRepository,
  erasures: erasuresRepository,
  auditLog: auditLogRepository,
  attachments: attachmentsRepository,
  uploads: uploadsRepository,
  feed: feedRepository,
  feedEpoch: feedEpochRepository,
  feedRetention: feedRetentionRepository,
  partitions: partitionsRepository,
  presence: presenceRepository,
  operatorLists: operatorListsRepository,
  outbox: outboxRepository,
  idempotencyKeys: idempotencyKeysRepository,
  mcpSessions: mcpSessionsRepository,
  owners: ownersRepository,
  membershipInvitations: membershipInvitationsRepository,
  memberships: membershipsRepository,
  accounts: accountsRepository,
  accountIdentities: accountIdentitiesRepository,
  sessions: sessionsRepository,
  invitations: invitationsRepository,
  approvals: approvalsRepository,
  outgoingClearances: outgoingClearancesRepository,
  eventSubscriptions: eventSubscriptionsRepository,
  pushConfigs: pushConfigsRepository,
  externalSignIns: externalSignInsRepository,
  agentStates: agentStatesRepository,
  personAgents: personAgentsRepository,
  livePages: livePagesRepository,
  dashboard: dashboardRepository,
  notificationSettings: notificationSettingsRepository,
  notificationChannels: notificationChannelsRepository,
  notificationMessages: notificationMessagesRepository,
  credentials: credentialsRepository,
  tokens: tokensRepository,
  streamTickets: streamTicketsRepository,
  clientGrants: clientGrantsRepository,
  oauthClients: oauthClientsRepository,
  oauthRecords: oauthRecordsRepository,
  rateLimits: rateLimitsRepository,
  sealedValues: sealedValuesRepository,
  signingKeys: signingKeysRepository,
  watchLinks: watchLinksRepository,
  webhooks: webhooksRepository,
  webhookDeliveries: webhookDeliveriesRepository,
  webhookFeeds: webhookFeedsRepository,
  workerNodes: workerNodesRepository,
};

/** Every repository over the pool or over one transaction, by its name. */
export type Repositories = {
  readonly [Name in keyof typeof factories]: ReturnType<(typeof factories)[Name]>;
};

/**
 * Creates the repositories. Each is built on first use: most transactions use three or four.
 * @param onRaised called for each agent whose relation version the commit must raise; only in a transaction
 */
export function createRepositories(
  db: Queryable,
  onRaised: ((agentId: string) => void) | null = null,
): Repositories {
  return Object.create(firstUses, {
    [queryable]: { value: watchRaisedVersions(db, onRaised) },
  }) as Repositories;
}

const queryable = Symbol('queryable');

/** Builds a repository when it is read first, and keeps it on the object. */
const firstUses = Object.defineProperties(
  {},
  Object.fromEntries(
    Object.entries(factories).map(([name, create]) => [
      name,
      {
        get(this: { [queryable]: Queryable }) {
          const value = create(this[queryable]);
          Object.defineProperty(this, name, { value });
          return value;
        },
      },
    ]),
  ),
);
