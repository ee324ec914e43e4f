import { accountRoutes } from './pages/people/account.tsx';
import { agentDeleteRoutes } from './pages/agents/delete.tsx';
import { agentEraseRoutes } from './pages/agents/erase.tsx';
import { agentNewRoutes } from './pages/agents/new.tsx';
import { agentOverviewRoutes } from './pages/agents/overview.tsx';
import { agentProfileRoutes } from './pages/agents/profile.tsx';
import { agentSettingsRoutes } from './pages/agents/settings.tsx';
import { agentListRoutes } from './pages/agents/list.tsx';
import { allowlistPage } from './pages/contacts/allowlist.tsx';
import { approvalRoutes } from './pages/approvals/approval.tsx';
import { approvalListRoutes } from './pages/approvals/list.tsx';
import { auditRoutes } from './pages/people/audit.tsx';
import { blocksPage } from './pages/contacts/blocks.tsx';
import { connectionRoutes } from './pages/auth/connections.tsx';
import { consentRoutes } from './pages/auth/consent.tsx';
import { contactNewPage } from './pages/contacts/new.tsx';
import { contactRemovePage } from './pages/contacts/remove.tsx';
import { contactsPage } from './pages/contacts/list.tsx';
import { conversationListRoutes } from './pages/conversations/list.tsx';
import { conversationNewRoutes } from './pages/conversations/new.tsx';
import { conversationRoutes } from './pages/conversations/conversation.tsx';
import { credentialNewPage } from './pages/auth/credential-new.tsx';
import { credentialRotatePage } from './pages/auth/credential-rotate.tsx';
import { credentialRevokePage, credentialsPage } from './pages/auth/credentials.tsx';
import { erasureRoutes } from './pages/agents/erasures.tsx';
import { exportRoutes } from './pages/agents/exports.tsx';
import { externalAccountRoutes } from './pages/people/external-accounts.tsx';
import { externalSignInRoutes } from './pages/people/external-sign-in.tsx';
import { homeRoutes } from './pages/home/home.tsx';
import { deadItemDeletePage, inboxPage } from './pages/inbox/inbox.tsx';
import { inboxOffPage, inboxSettingsPage } from './pages/inbox/settings.tsx';
import { membershipInvitationRoutes } from './pages/people/membership-invitations.tsx';
import { memberRemoveRoutes } from './pages/people/member-remove.tsx';
import { notificationLinkPages, notificationStream } from './pages/notifications/links.tsx';
import { notificationsPage } from './pages/notifications/settings.tsx';
import { organizationAuditRoutes } from './pages/people/organization-audit.tsx';
import { organizationRoutes } from './pages/people/organization.tsx';
import { organizationListRoutes } from './pages/people/organizations.tsx';
import { sessionRoutes } from './pages/people/sessions.tsx';
import { signInRoutes, signOutRoutes } from './pages/people/sign-in.tsx';
import { signUpRoutes } from './pages/people/sign-up.tsx';
import { startRoutes } from './pages/start.tsx';
import { usageRoutes } from './pages/usage/usage.tsx';
import { writeRoutes } from './pages/conversations/write.tsx';
import { tryRoutes } from './pages/agents/try.tsx';
import { waitRoutes } from './pages/conversations/waits.tsx';
import { subscriptionsPage } from './pages/webhooks/subscriptions.tsx';
import { webhookNewPage } from './pages/webhooks/new.tsx';
import { webhookDeliveriesPage } from './pages/webhooks/deliveries.tsx';
import { webhookPage, webhookRemovePage } from './pages/webhooks/webhook.tsx';
import { webhooksPage } from './pages/webhooks/list.tsx';
import type { PageParts } from './parts.ts';
import type { ConsoleRoute } from './route.ts';

/** All routes of the console. */
export function consoleRoutes(parts: PageParts): ConsoleRoute[] {
  return [
    ...startRoutes(parts),
    ...signInRoutes(parts),
    ...signUpRoutes(parts),
    ...externalSignInRoutes(parts),
    ...signOutRoutes(parts),
    ...consentRoutes(parts),
    ...homeRoutes(parts),
    ...conversationListRoutes(parts),
    // Before the routes with a thread id in the same place.
    ...conversationNewRoutes(parts),
    ...conversationRoutes(parts),
    ...writeRoutes(parts),
    ...waitRoutes(parts),
    ...usageRoutes(parts),
    ...agentListRoutes(parts),
    // Before the routes with an agent id in the same place.
    ...agentNewRoutes(parts),
    ...agentOverviewRoutes(parts),
    ...tryRoutes(parts),
    ...agentProfileRoutes(parts),
    ...agentSettingsRoutes(parts),
    ...agentDeleteRoutes(parts),
    ...agentEraseRoutes(parts),
    ...erasureRoutes(parts),
    ...exportRoutes(parts),
    ...inboxPage,
    ...deadItemDeletePage,
    ...inboxSettingsPage,
    ...inboxOffPage,
    ...contactsPage,
    ...contactNewPage,
    ...contactRemovePage,
    ...blocksPage,
    ...allowlistPage,
    ...credentialsPage,
    ...credentialNewPage,
    ...credentialRevokePage,
    ...credentialRotatePage,
    ...webhooksPage,
    // Before the routes with a webhook id in the same place.
    ...webhookNewPage,
    ...webhookPage,
    ...webhookDeliveriesPage,
    ...webhookRemovePage,
    ...subscriptionsPage,
    ...connectionRoutes(parts),
    ...approvalListRoutes(parts),
    ...approvalRoutes(parts),
    ...organizationListRoutes(parts),
    ...organizationRoutes(parts),
    ...organizationAuditRoutes(parts),
    ...membershipInvitationRoutes(parts),
    ...memberRemoveRoutes(parts),
    ...notificationsPage,
    notificationStream,
    ...notificationLinkPages,
    ...accountRoutes(parts),
    ...externalAccountRoutes(parts),
    ...sessionRoutes(parts),
    ...auditRoutes(parts),
  ];
}
