import { accountIdentitiesRepository } from './account-identities.ts';
import { accountsRepository } from './accounts.ts';
import { agentExportRepository } from './agent-export.ts';
import { agentExportsRepository } from './agent-exports.ts';
import { agentSearchRepository } from './agent-search.ts';
import { agentsRepository } from './agents.ts';
import { allowlistsRepository } from './allowlists.ts';
import { approvalsRepository } from './approvals.ts';
import { attachmentsRepository } from './attachments.ts';
import { auditLogRepository } from './audit-log.ts';
import { blocksRepository } from './blocks.ts';
import { clientGrantsRepository } from './client-grants.ts';
import { contactRequestsRepository } from './contact-requests.ts';
import { contactsRepository } from './contacts.ts';
import { credentialsRepository } from './credentials.ts';
import { erasureRepository } from './erasure.ts';
import { erasuresRepository } from './erasures.ts';
import { exchangesRepository } from './exchanges.ts';
import { externalSignInsRepository } from './external-sign-ins.ts';
import { feedOriginRepository } from './feed-origin.ts';
import { feedRepository } from './feed.ts';
import { feedRetentionRepository } from './feed-retention.ts';
import { idempotencyKeysRepository } from './idempotency-keys.ts';
import { invitationsRepository } from './invitations.ts';
import { managedAgentsRepository } from './managed-agents.ts';
import { mcpSessionsRepository } from './mcp-sessions.ts';
import { membershipsRepository } from './memberships.ts';
import { messageRetentionRepository } from './message-retention.ts';
import { messageSearchRepository } from './message-search.ts';
import { messageBatchesRepository } from './message-batches.ts';
import { messagesRepository } from './messages.ts';
import { oauthClientsRepository } from './oauth-clients.ts';
import { oauthRecordsRepository } from './oauth-records.ts';
import { outboxRepository } from './outbox.ts';
import { ownerSearchRepository } from './owner-search.ts';
import { ownersRepository } from './owners.ts';
import { partitionsRepository } from './partitions.ts';
import { personAgentsRepository } from './person-agents.ts';
import { personDeskRepository } from './person-desk.ts';
import { presenceRepository } from './presence.ts';
import type { Queryable } from './queryable.ts';
import { rateLimitsRepository } from './rate-limits.ts';
import { sessionsRepository } from './sessions.ts';
import { signingKeysRepository } from './signing-keys.ts';
import { streamTicketsRepository } from './stream-tickets.ts';
import { threadListRepository } from './thread-list.ts';
import { threadMembersRepository } from './thread-members.ts';
import { threadsRepository } from './threads.ts';
import { tokensRepository } from './tokens.ts';
import { uploadsRepository } from './uploads.ts';
import { webhookDeliveriesRepository } from './webhook-deliveries.ts';
import { webhookNotesRepository } from './webhook-notes.ts';
import { webhooksRepository } from './webhooks.ts';
import { workerNodesRepository } from './worker-nodes.ts';

/** Every repository, bound to the pool or to one transaction. */
export function repositoriesOn(db: Queryable) {
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
    feedOrigin: feedOriginRepository(db),
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
    personDesk: personDeskRepository(db),
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
    webhookNotes: webhookNotesRepository(db),
    workerNodes: workerNodesRepository(db),
  };
}

export type Repositories = ReturnType<typeof repositoriesOn>;
