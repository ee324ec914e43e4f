import { accountIdentitiesRepository } from './people/external-identities.ts';
import { accountsRepository } from './people/accounts.ts';
import { agentExportRepository } from './agents/export-data.ts';
import { agentExportsRepository } from './agents/exports.ts';
import { agentSearchRepository } from './agents/search.ts';
import { agentsRepository } from './agents/agents.ts';
import { allowlistsRepository } from './contacts/allowlist.ts';
import { approvalsRepository } from './agents/approvals.ts';
import { attachmentsRepository } from './attachments/attachments.ts';
import { auditLogRepository } from './audit-log.ts';
import { blocksRepository } from './contacts/blocks.ts';
import { clientGrantsRepository } from './auth/client-grants.ts';
import { contactRequestsRepository } from './contacts/requests.ts';
import { contactsRepository } from './contacts/contacts.ts';
import { conversationsRepository } from './threads/conversations.ts';
import { credentialsRepository } from './auth/credentials.ts';
import { erasureRepository } from './agents/erase-data.ts';
import { erasuresRepository } from './agents/erasures.ts';
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
import { messageRetentionRepository } from './messages/retention.ts';
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
import { personAgentsRepository } from './people/agents.ts';
import { dashboardRepository } from './people/dashboard.ts';
import { presenceRepository } from './agents/presence.ts';
import type { Queryable } from './queryable.ts';
import { exchangesRepository, rateLimitsRepository } from './maintenance/rate-limits.ts';
import { sessionsRepository } from './people/sessions.ts';
import { signingKeysRepository } from './auth/signing-keys.ts';
import { streamTicketsRepository } from './auth/stream-tickets.ts';
import { threadListRepository } from './threads/list.ts';
import { threadMembersRepository } from './threads/members.ts';
import { threadsRepository } from './threads/threads.ts';
import { tokensRepository } from './auth/tokens.ts';
import { uploadsRepository } from './attachments/uploads.ts';
import { usageRepository } from './threads/usage.ts';
import { waitsRepository } from './threads/waits.ts';
import { webhookDeliveriesRepository } from './webhooks/deliveries.ts';
import { webhookFeedsRepository } from './webhooks/feed-reading.ts';
import { webhooksRepository } from './webhooks/webhooks.ts';
import { workerNodesRepository } from './maintenance/worker-nodes.ts';

type Factory<Repository> = (db: Queryable) => Repository;

/** Every repository over the pool or over one transaction. Each is built on first use: most transactions use three or four. */
export class Repositories {
  private readonly db: Queryable;
  private readonly built = new Map<Factory<unknown>, unknown>();

  constructor(db: Queryable) {
    this.db = db;
  }

  private get<Repository>(create: Factory<Repository>): Repository {
    const existing = this.built.get(create);
    if (existing !== undefined) return existing as Repository;
    const repository = create(this.db);
    this.built.set(create, repository);
    return repository;
  }

  get agents() {
    return this.get(agentsRepository);
  }
  get managedAgents() {
    return this.get(managedAgentsRepository);
  }
  get agentSearch() {
    return this.get(agentSearchRepository);
  }
  get ownerSearch() {
    return this.get(ownerSearchRepository);
  }
  get contacts() {
    return this.get(contactsRepository);
  }
  get contactRequests() {
    return this.get(contactRequestsRepository);
  }
  get blocks() {
    return this.get(blocksRepository);
  }
  get allowlists() {
    return this.get(allowlistsRepository);
  }
  get threads() {
    return this.get(threadsRepository);
  }
  get threadList() {
    return this.get(threadListRepository);
  }
  get conversations() {
    return this.get(conversationsRepository);
  }
  get waits() {
    return this.get(waitsRepository);
  }
  get usage() {
    return this.get(usageRepository);
  }
  get threadMembers() {
    return this.get(threadMembersRepository);
  }
  get inboxes() {
    return this.get(inboxesRepository);
  }
  get inboxClaims() {
    return this.get(inboxClaimsRepository);
  }
  get inboxLeases() {
    return this.get(inboxLeasesRepository);
  }
  get inboxDeadItems() {
    return this.get(inboxDeadItemsRepository);
  }
  get inboxHandled() {
    return this.get(inboxHandledRepository);
  }
  get inboxRetention() {
    return this.get(inboxRetentionRepository);
  }
  get messages() {
    return this.get(messagesRepository);
  }
  get messageBatches() {
    return this.get(messageBatchesRepository);
  }
  get exchanges() {
    return this.get(exchangesRepository);
  }
  get messageSearch() {
    return this.get(messageSearchRepository);
  }
  get messageRetention() {
    return this.get(messageRetentionRepository);
  }
  get agentExport() {
    return this.get(agentExportRepository);
  }
  get agentExports() {
    return this.get(agentExportsRepository);
  }
  get erasure() {
    return this.get(erasureRepository);
  }
  get erasures() {
    return this.get(erasuresRepository);
  }
  get auditLog() {
    return this.get(auditLogRepository);
  }
  get attachments() {
    return this.get(attachmentsRepository);
  }
  get uploads() {
    return this.get(uploadsRepository);
  }
  get feed() {
    return this.get(feedRepository);
  }
  get feedEpoch() {
    return this.get(feedEpochRepository);
  }
  get feedRetention() {
    return this.get(feedRetentionRepository);
  }
  get partitions() {
    return this.get(partitionsRepository);
  }
  get presence() {
    return this.get(presenceRepository);
  }
  get operatorLists() {
    return this.get(operatorListsRepository);
  }
  get outbox() {
    return this.get(outboxRepository);
  }
  get idempotencyKeys() {
    return this.get(idempotencyKeysRepository);
  }
  get mcpSessions() {
    return this.get(mcpSessionsRepository);
  }
  get owners() {
    return this.get(ownersRepository);
  }
  get membershipInvitations() {
    return this.get(membershipInvitationsRepository);
  }
  get memberships() {
    return this.get(membershipsRepository);
  }
  get accounts() {
    return this.get(accountsRepository);
  }
  get accountIdentities() {
    return this.get(accountIdentitiesRepository);
  }
  get sessions() {
    return this.get(sessionsRepository);
  }
  get invitations() {
    return this.get(invitationsRepository);
  }
  get approvals() {
    return this.get(approvalsRepository);
  }
  get eventSubscriptions() {
    return this.get(eventSubscriptionsRepository);
  }
  get externalSignIns() {
    return this.get(externalSignInsRepository);
  }
  get personAgents() {
    return this.get(personAgentsRepository);
  }
  get livePages() {
    return this.get(livePagesRepository);
  }
  get dashboard() {
    return this.get(dashboardRepository);
  }
  get notificationSettings() {
    return this.get(notificationSettingsRepository);
  }
  get notificationChannels() {
    return this.get(notificationChannelsRepository);
  }
  get notificationMessages() {
    return this.get(notificationMessagesRepository);
  }
  get credentials() {
    return this.get(credentialsRepository);
  }
  get tokens() {
    return this.get(tokensRepository);
  }
  get streamTickets() {
    return this.get(streamTicketsRepository);
  }
  get clientGrants() {
    return this.get(clientGrantsRepository);
  }
  get oauthClients() {
    return this.get(oauthClientsRepository);
  }
  get oauthRecords() {
    return this.get(oauthRecordsRepository);
  }
  get rateLimits() {
    return this.get(rateLimitsRepository);
  }
  get signingKeys() {
    return this.get(signingKeysRepository);
  }
  get webhooks() {
    return this.get(webhooksRepository);
  }
  get webhookDeliveries() {
    return this.get(webhookDeliveriesRepository);
  }
  get webhookFeeds() {
    return this.get(webhookFeedsRepository);
  }
  get workerNodes() {
    return this.get(workerNodesRepository);
  }
}
