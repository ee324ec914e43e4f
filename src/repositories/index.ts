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
import { credentialsRepository } from './auth/credentials.ts';
import { erasureRepository } from './agents/erase-data.ts';
import { erasuresRepository } from './agents/erasures.ts';
import { externalSignInsRepository } from './people/external-sign-ins.ts';
import { feedEpochRepository } from './feed/epoch.ts';
import { feedRepository } from './feed/feed.ts';
import { feedRetentionRepository } from './feed/retention.ts';
import { idempotencyKeysRepository } from './maintenance/idempotency-keys.ts';
import { invitationsRepository } from './people/invitations.ts';
import { managedAgentsRepository } from './agents/managed-agents.ts';
import { mcpSessionsRepository } from './auth/mcp-sessions.ts';
import { membershipsRepository } from './people/memberships.ts';
import { messageRetentionRepository } from './messages/retention.ts';
import { messageSearchRepository } from './messages/search.ts';
import { messageBatchesRepository } from './messages/batches.ts';
import { messagesRepository } from './messages/messages.ts';
import { oauthClientsRepository } from './auth/oauth-clients.ts';
import { oauthRecordsRepository } from './auth/oauth-records.ts';
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
import { webhookDeliveriesRepository } from './webhooks/deliveries.ts';
import { webhookFeedsRepository } from './webhooks/feed-reading.ts';
import { webhooksRepository } from './webhooks/webhooks.ts';
import { workerNodesRepository } from './maintenance/worker-nodes.ts';

/** Every repository, bound to the pool or to one transaction. */
export function createRepositories(db: Queryable) {
  return {
    agents: agentsRepository(db),
    managedAgents: managedAgentsRepository(db),
    agentSearch: agentSearchRepository(db),
    ownerSearch: ownerSearchRepository(db),
    contacts: contactsRepository(db),
    contactRequests: contactRequestsRepository(db),
    blocks: blocksRepository(db),
    allowlists: allowlistsRepository(db),
    threads: threadsRepository(db),
    threadList: threadListRepository(db),
    threadMembers: threadMembersRepository(db),
    messages: messagesRepository(db),
    messageBatches: messageBatchesRepository(db),
    exchanges: exchangesRepository(db),
    messageSearch: messageSearchRepository(db),
    messageRetention: messageRetentionRepository(db),
    agentExport: agentExportRepository(db),
    agentExports: agentExportsRepository(db),
    erasure: erasureRepository(db),
    erasures: erasuresRepository(db),
    auditLog: auditLogRepository(db),
    attachments: attachmentsRepository(db),
    uploads: uploadsRepository(db),
    feed: feedRepository(db),
    feedEpoch: feedEpochRepository(db),
    feedRetention: feedRetentionRepository(db),
    partitions: partitionsRepository(db),
    presence: presenceRepository(db),
    outbox: outboxRepository(db),
    idempotencyKeys: idempotencyKeysRepository(db),
    mcpSessions: mcpSessionsRepository(db),
    owners: ownersRepository(db),
    memberships: membershipsRepository(db),
    accounts: accountsRepository(db),
    accountIdentities: accountIdentitiesRepository(db),
    sessions: sessionsRepository(db),
    invitations: invitationsRepository(db),
    approvals: approvalsRepository(db),
    externalSignIns: externalSignInsRepository(db),
    personAgents: personAgentsRepository(db),
    dashboard: dashboardRepository(db),
    credentials: credentialsRepository(db),
    tokens: tokensRepository(db),
    streamTickets: streamTicketsRepository(db),
    clientGrants: clientGrantsRepository(db),
    oauthClients: oauthClientsRepository(db),
    oauthRecords: oauthRecordsRepository(db),
    rateLimits: rateLimitsRepository(db),
    signingKeys: signingKeysRepository(db),
    webhooks: webhooksRepository(db),
    webhookDeliveries: webhookDeliveriesRepository(db),
    webhookFeeds: webhookFeedsRepository(db),
    workerNodes: workerNodesRepository(db),
  };
}

export type Repositories = ReturnType<typeof createRepositories>;
