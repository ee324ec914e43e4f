import { addAllowlistEntryOperation } from './contacts/add-allowlist-entry.ts';
import { addFavoriteOperation } from './contacts/add-favorite.ts';
import { addThreadMemberOperation } from './threads/add-thread-member.ts';
import { approveApprovalOperation } from './approvals/approve-approval.ts';
import { approveContactRequestOperation } from './contacts/approve-contact-request.ts';
import { askAgentOperation } from './messages/ask-agent.ts';
import { askInThreadOperation } from './messages/ask-in-thread.ts';
import { blockAgentOperation } from './contacts/block-agent.ts';
import { completeUploadOperation } from './attachments/complete-upload.ts';
import { createAttachmentOperation } from './attachments/create-attachment.ts';
import { createThreadOperation } from './threads/create-thread.ts';
import { createWebhookOperation } from './webhooks/create-webhook.ts';
import type { Operation } from './define.ts';
import { deleteAgentOperation } from './agents/delete-agent.ts';
import { denyApprovalOperation } from './approvals/deny-approval.ts';
import { downloadAttachmentOperation } from './attachments/download-attachment.ts';
import { deleteWebhookOperation } from './webhooks/delete-webhook.ts';
import { dropContactOperation } from './contacts/drop-contact.ts';
import { getAgentCardOperation } from './agents/get-agent-card.ts';
import { getAgentProfileOperation } from './agents/get-agent-profile.ts';
import { getAgentOperation } from './agents/get-agent.ts';
import { getAttachmentOperation } from './attachments/get-attachment.ts';
import { getConversationOperation } from './threads/get-conversation.ts';
import { getMeOperation } from './agents/get-me.ts';
import { getThreadOperation } from './threads/get-thread.ts';
import { getWebhookOperation } from './webhooks/get-webhook.ts';
import { acknowledgeMessageOperation } from './inbox/acknowledge-message.ts';
import { acknowledgeMessagesOperation } from './inbox/acknowledge-messages.ts';
import { claimMessagesOperation } from './inbox/claim-messages.ts';
import { deleteDeadItemOperation } from './inbox/delete-dead-item.ts';
import { deleteInboxOperation } from './inbox/delete-inbox.ts';
import { getInboxOperation } from './inbox/get-inbox.ts';
import { listDeadItemsOperation } from './inbox/list-dead-items.ts';
import { readInboxOperation } from './inbox/read-inbox.ts';
import { redriveDeadItemOperation } from './inbox/redrive-dead-item.ts';
import { releaseMessageOperation } from './inbox/release-message.ts';
import { renewLeaseOperation } from './inbox/renew-lease.ts';
import { setInboxOperation } from './inbox/set-inbox.ts';
import { listAgentsOperation } from './agents/list-agents.ts';
import { listAllowlistOperation } from './contacts/list-allowlist.ts';
import { listApprovalsOperation } from './approvals/list-approvals.ts';
import { listBlocksOperation } from './contacts/list-blocks.ts';
import { listContactRequestsOperation } from './contacts/list-contact-requests.ts';
import { listContactsOperation } from './contacts/list-contacts.ts';
import { listConversationsOperation } from './threads/list-conversations.ts';
import { listManagedAgentsOperation } from './agents/list-managed-agents.ts';
import { listMessagesOperation } from './messages/list-messages.ts';
import { listReceiptsOperation } from './messages/list-receipts.ts';
import { listThreadsOperation } from './threads/list-threads.ts';
import { getUsageOperation } from './threads/get-usage.ts';
import { listWaitsOperation } from './threads/list-waits.ts';
import { listWebhookDeliveriesOperation } from './webhooks/list-webhook-deliveries.ts';
import { listWebhooksOperation } from './webhooks/list-webhooks.ts';
import { markReadOperation } from './messages/mark-read.ts';
import { readAttachmentOperation } from './attachments/read-attachment.ts';
import { readThreadOperation } from './threads/read-thread.ts';
import { recallMessagesOperation } from './search/recall-messages.ts';
import { remoteOperations } from './remote/list.ts';
import { registerAgentOperation } from './agents/register-agent.ts';
import { rejectContactRequestOperation } from './contacts/reject-contact-request.ts';
import { removeAllowlistEntryOperation } from './contacts/remove-allowlist-entry.ts';
import { removeContactOperation } from './contacts/remove-contact.ts';
import { removeFavoriteOperation } from './contacts/remove-favorite.ts';
import { removeThreadMemberOperation } from './threads/remove-thread-member.ts';
import { replayWebhookDeliveriesOperation } from './webhooks/replay-webhook-deliveries.ts';
import { replayWebhookDeliveryOperation } from './webhooks/replay-webhook-delivery.ts';
import { requestContactOperation } from './contacts/request-contact.ts';
import { requestUploadOperation } from './attachments/request-upload.ts';
import { respondToContactRequestOperation } from './contacts/respond-to-contact-request.ts';
import { rotateWebhookSecretOperation } from './webhooks/rotate-webhook-secret.ts';
import { searchAgentsOperation } from './search/search-agents.ts';
import { searchConversationsOperation } from './search/search-conversations.ts';
import { searchDirectoryOperation } from './search/search-directory.ts';
import { searchMessagesOperation } from './search/search-messages.ts';
import { searchAgentsAndContactsOperation } from './search/search-agents-and-contacts.ts';
import { sendMessageOperation } from './messages/send-message.ts';
import { sendMessagesOperation } from './messages/send-messages.ts';
import { testWebhookOperation } from './webhooks/test-webhook.ts';
import { unblockAgentOperation } from './contacts/unblock-agent.ts';
import { updateAgentOperation } from './agents/update-agent.ts';
import { updateMeOperation } from './agents/update-me.ts';
import { showThreadsOperation } from './threads/show-threads.ts';
import { cancelTaskOperation } from './tasks/cancel-task.ts';
import { createTaskOperation } from './tasks/create-task.ts';
import { getTaskOperation } from './tasks/get-task.ts';
import { listTasksOperation } from './tasks/list-tasks.ts';
import { updateTaskOperation } from './tasks/update-task.ts';
import { updateThreadOperation } from './threads/update-thread.ts';
import { waitForReplyOperation } from './messages/wait-for-reply.ts';
import { withdrawMessageOperation } from './messages/withdraw-message.ts';
import { uploadAttachmentOperation } from './attachments/upload-attachment.ts';
import { updateWebhookOperation } from './webhooks/update-webhook.ts';
import { withdrawContactRequestOperation } from './contacts/withdraw-contact-request.ts';

/** Everything an agent can do. REST routes, MCP tools and resources, and the OpenAPI document are loops over this list. */
export const catalogue: readonly Operation[] = [
  getMeOperation,
  updateMeOperation,
  listAgentsOperation,
  listManagedAgentsOperation,
  registerAgentOperation,
  getAgentOperation,
  getAgentProfileOperation,
  getAgentCardOperation,
  updateAgentOperation,
  deleteAgentOperation,
  ...remoteOperations,
  searchAgentsAndContactsOperation,
  searchAgentsOperation,
  searchDirectoryOperation,
  createThreadOperation,
  listThreadsOperation,
  showThreadsOperation,
  getThreadOperation,
  readThreadOperation,
  updateThreadOperation,
  listConversationsOperation,
  getConversationOperation,
  listWaitsOperation,
  getUsageOperation,
  searchConversationsOperation,
  addThreadMemberOperation,
  removeThreadMemberOperation,
  markReadOperation,
  listReceiptsOperation,
  sendMessageOperation,
  sendMessagesOperation,
  askAgentOperation,
  askInThreadOperation,
  withdrawMessageOperation,
  waitForReplyOperation,
  listMessagesOperation,
  createTaskOperation,
  listTasksOperation,
  getTaskOperation,
  updateTaskOperation,
  cancelTaskOperation,
  searchMessagesOperation,
  recallMessagesOperation,
  setInboxOperation,
  getInboxOperation,
  readInboxOperation,
  deleteInboxOperation,
  claimMessagesOperation,
  renewLeaseOperation,
  acknowledgeMessageOperation,
  acknowledgeMessagesOperation,
  releaseMessageOperation,
  listDeadItemsOperation,
  redriveDeadItemOperation,
  deleteDeadItemOperation,
  createAttachmentOperation,
  uploadAttachmentOperation,
  requestUploadOperation,
  completeUploadOperation,
  getAttachmentOperation,
  readAttachmentOperation,
  downloadAttachmentOperation,
  listContactsOperation,
  removeContactOperation,
  dropContactOperation,
  addFavoriteOperation,
  removeFavoriteOperation,
  requestContactOperation,
  listContactRequestsOperation,
  approveContactRequestOperation,
  rejectContactRequestOperation,
  withdrawContactRequestOperation,
  respondToContactRequestOperation,
  listBlocksOperation,
  blockAgentOperation,
  unblockAgentOperation,
  listAllowlistOperation,
  addAllowlistEntryOperation,
  removeAllowlistEntryOperation,
  listApprovalsOperation,
  approveApprovalOperation,
  denyApprovalOperation,
  createWebhookOperation,
  listWebhooksOperation,
  getWebhookOperation,
  updateWebhookOperation,
  deleteWebhookOperation,
  rotateWebhookSecretOperation,
  testWebhookOperation,
  listWebhookDeliveriesOperation,
  replayWebhookDeliveryOperation,
  replayWebhookDeliveriesOperation,
];
