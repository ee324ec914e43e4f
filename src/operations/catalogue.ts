import { addAllowlistEntryOperation } from './add-allowlist-entry.ts';
import { addFavoriteOperation } from './add-favorite.ts';
import { addThreadMemberOperation } from './add-thread-member.ts';
import { approveApprovalOperation } from './approve-approval.ts';
import { approveContactRequestOperation } from './approve-contact-request.ts';
import { blockAgentOperation } from './block-agent.ts';
import { completeUploadOperation } from './complete-upload.ts';
import { createAttachmentOperation } from './create-attachment.ts';
import { createThreadOperation } from './create-thread.ts';
import { createWebhookOperation } from './create-webhook.ts';
import type { Operation } from './define.ts';
import { deleteAgentOperation } from './delete-agent.ts';
import { denyApprovalOperation } from './deny-approval.ts';
import { downloadAttachmentOperation } from './download-attachment.ts';
import { deleteWebhookOperation } from './delete-webhook.ts';
import { dropContactOperation } from './drop-contact.ts';
import { getAgentCardOperation } from './get-agent-card.ts';
import { getAgentProfileOperation } from './get-agent-profile.ts';
import { getAgentOperation } from './get-agent.ts';
import { getAttachmentOperation } from './get-attachment.ts';
import { getMeOperation } from './get-me.ts';
import { getThreadOperation } from './get-thread.ts';
import { getWebhookOperation } from './get-webhook.ts';
import { listAgentsOperation } from './list-agents.ts';
import { listAllowlistOperation } from './list-allowlist.ts';
import { listApprovalsOperation } from './list-approvals.ts';
import { listBlocksOperation } from './list-blocks.ts';
import { listContactRequestsOperation } from './list-contact-requests.ts';
import { listContactsOperation } from './list-contacts.ts';
import { listManagedAgentsOperation } from './list-managed-agents.ts';
import { listMessagesOperation } from './list-messages.ts';
import { listReceiptsOperation } from './list-receipts.ts';
import { listThreadsOperation } from './list-threads.ts';
import { listWebhookDeliveriesOperation } from './list-webhook-deliveries.ts';
import { listWebhooksOperation } from './list-webhooks.ts';
import { markReadOperation } from './mark-read.ts';
import { readAttachmentOperation } from './read-attachment.ts';
import { readThreadOperation } from './read-thread.ts';
import { recallMessagesOperation } from './recall-messages.ts';
import { registerAgentOperation } from './register-agent.ts';
import { rejectContactRequestOperation } from './reject-contact-request.ts';
import { removeAllowlistEntryOperation } from './remove-allowlist-entry.ts';
import { removeContactOperation } from './remove-contact.ts';
import { removeFavoriteOperation } from './remove-favorite.ts';
import { removeThreadMemberOperation } from './remove-thread-member.ts';
import { replayWebhookDeliveriesOperation } from './replay-webhook-deliveries.ts';
import { replayWebhookDeliveryOperation } from './replay-webhook-delivery.ts';
import { requestContactOperation } from './request-contact.ts';
import { requestUploadOperation } from './request-upload.ts';
import { respondToContactRequestOperation } from './respond-to-contact-request.ts';
import { rotateWebhookSecretOperation } from './rotate-webhook-secret.ts';
import { searchAgentsOperation } from './search-agents.ts';
import { searchDirectoryOperation } from './search-directory.ts';
import { searchMessagesOperation } from './search-messages.ts';
import { searchOperation } from './search.ts';
import { sendMessageOperation } from './send-message.ts';
import { testWebhookOperation } from './test-webhook.ts';
import { unblockAgentOperation } from './unblock-agent.ts';
import { updateAgentOperation } from './update-agent.ts';
import { updateMeOperation } from './update-me.ts';
import { updateThreadOperation } from './update-thread.ts';
import { uploadAttachmentOperation } from './upload-attachment.ts';
import { updateWebhookOperation } from './update-webhook.ts';

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
  searchOperation,
  searchAgentsOperation,
  searchDirectoryOperation,
  createThreadOperation,
  listThreadsOperation,
  getThreadOperation,
  readThreadOperation,
  updateThreadOperation,
  addThreadMemberOperation,
  removeThreadMemberOperation,
  markReadOperation,
  listReceiptsOperation,
  sendMessageOperation,
  listMessagesOperation,
  searchMessagesOperation,
  recallMessagesOperation,
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
