import { accountPage } from './pages/people/account.tsx';
import { agentDeletePage, agentErasePage } from './pages/agents/delete.tsx';
import { agentNewPage } from './pages/agents/new.tsx';
import { agentConnectPage } from './pages/agents/quick-start.tsx';
import { agentOverviewPage, tryAction } from './pages/agents/overview.tsx';
import { agentProfilePage } from './pages/agents/profile.tsx';
import { agentSettingsPage } from './pages/agents/settings.tsx';
import { agentsPage } from './pages/agents/list.tsx';
import { allowlistPage, blocksPage } from './pages/contacts/blocks.tsx';
import { approvalPage } from './pages/approvals/approval.tsx';
import { approvalsPage } from './pages/approvals/list.tsx';
import { auditPage, organizationAuditPage } from './pages/people/audit.tsx';
import { connectionsPage } from './pages/auth/connections.tsx';
import { preferencesAction } from './preferences.ts';
import { consentRoutes } from './pages/auth/consent.tsx';
import { contactNewPage, contactRemovePage, contactsPage } from './pages/contacts/contacts.tsx';
import { conversationListPages } from './pages/conversations/list.tsx';
import { conversationNewPage } from './pages/conversations/new.tsx';
import { conversationPages } from './pages/conversations/conversation.tsx';
import {
  credentialNewPage,
  credentialRotatePage,
  credentialRevokePage,
  credentialsPage,
} from './pages/auth/credentials.tsx';
import { erasuresPage, exportsPages } from './pages/agents/reports.tsx';
import { externalAccountsPage } from './pages/people/external-accounts.tsx';
import { externalSignInRoutes } from './pages/people/external-sign-in.tsx';
import { findPage, keysPage } from './pages/find.tsx';
import { homePages } from './pages/home/home.tsx';
import { deadItemDeletePage, inboxPage } from './pages/inbox/inbox.tsx';
import { inboxOffPage, inboxSettingsPage } from './pages/inbox/settings.tsx';
import { invitationDecision, invitationLinkPages, organizationsPage } from './pages/people/organizations.tsx';
import { memberRemovePage, organizationPage } from './pages/people/organization.tsx';
import { notificationLinkPages, notificationStream } from './pages/notifications/links.tsx';
import { notificationsPage } from './pages/notifications/settings.tsx';
import { remoteAgentsPage, remoteAgentNewPage } from './pages/remote/list.tsx';
import { remoteInvitationsPage } from './pages/remote/invitations.tsx';
import { remoteAgentPage, remoteAgentRemovePage } from './pages/remote/remote-agent.tsx';
import { sessionsPage } from './pages/people/sessions.tsx';
import { signInPages, signOutAction } from './pages/people/sign-in.tsx';
import { signUpPages } from './pages/people/sign-up.tsx';
import { startRoute } from './pages/start.tsx';
import { usagePages } from './pages/usage/usage.tsx';
import { markAction } from './pages/conversations/marks.tsx';
import { taskActions } from './pages/conversations/tasks.tsx';
import { tracePage } from './pages/conversations/trace.tsx';
import { withdrawPage } from './pages/conversations/withdraw.tsx';
import { draftAction, writeAction } from './pages/conversations/write.tsx';
import { viewActions } from './pages/conversations/views.tsx';
import { watchLinksPage } from './pages/watching/watch-links.tsx';
import { watchPages } from './pages/watching/watch-page.tsx';
import { waitPages } from './pages/waits/waits.tsx';
import { subscriptionsPage } from './pages/webhooks/subscriptions.tsx';
import { webhookNewPage, webhookPage, webhookRemovePage } from './pages/webhooks/webhook.tsx';
import { webhookDeliveriesPage } from './pages/webhooks/deliveries.tsx';
import { failingWebhooksPage } from './pages/webhooks/failing.tsx';
import { webhooksPage } from './pages/webhooks/list.tsx';
import type { PageParts } from './parts.ts';
import type { ConsoleRoute } from './route.ts';

/** Those of a service with remote agents. The form to add one is before the routes with an agent id in the same place. */
const remoteAgentPages = [
  ...remoteAgentsPage,
  ...remoteAgentNewPage,
  ...remoteInvitationsPage,
  ...remoteAgentPage,
  ...remoteAgentRemovePage,
];

/** All routes of the console. */
export function consoleRoutes(parts: PageParts): ConsoleRoute[] {
  return [
    startRoute,
    ...signInPages,
    ...signUpPages,
    ...externalSignInRoutes(parts),
    signOutAction,
    ...consentRoutes,
    ...homePages,
    preferencesAction,
    ...findPage,
    ...keysPage,
    ...conversationListPages,
    // Before the routes with a thread id in the same place.
    ...conversationNewPage,
    ...conversationPages,
    markAction,
    ...viewActions,
    draftAction,
    writeAction,
    ...taskActions,
    ...tracePage,
    ...withdrawPage,
    ...watchLinksPage,
    ...watchPages,
    ...waitPages,
    ...usagePages,
    ...agentsPage,
    // Before the routes with an agent id in the same place.
    ...agentNewPage,
    ...agentOverviewPage,
    ...agentConnectPage,
    tryAction,
    ...agentProfilePage,
    ...agentSettingsPage,
    ...agentDeletePage,
    ...agentErasePage,
    ...erasuresPage,
    ...exportsPages,
    ...(parts.settings.has_remote_agents ? remoteAgentPages : []),
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
    ...failingWebhooksPage,
    // Before the routes with a webhook id in the same place.
    ...webhookNewPage,
    ...webhookPage,
    ...webhookDeliveriesPage,
    ...webhookRemovePage,
    ...subscriptionsPage,
    ...connectionsPage,
    ...approvalsPage,
    ...approvalPage,
    ...organizationsPage,
    ...organizationPage,
    ...organizationAuditPage,
    invitationDecision,
    ...invitationLinkPages,
    ...memberRemovePage,
    ...notificationsPage,
    notificationStream,
    ...notificationLinkPages,
    ...accountPage,
    ...(parts.external ? externalAccountsPage(parts.external) : []),
    ...sessionsPage,
    ...auditPage,
  ];
}
