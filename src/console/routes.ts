import { accountRoutes } from './pages/account.tsx';
import { agentDeleteRoutes } from './pages/agent-delete.tsx';
import { agentEraseRoutes } from './pages/agent-erase.tsx';
import { agentNewRoutes } from './pages/agent-new.tsx';
import { agentProfileRoutes } from './pages/agent-profile.tsx';
import { agentSettingsRoutes } from './pages/agent-settings.tsx';
import { agentListRoutes } from './pages/agents.tsx';
import { allowlistRoutes } from './pages/allowlist.tsx';
import { approvalRoutes } from './pages/approval.tsx';
import { approvalListRoutes } from './pages/approvals.tsx';
import { blockRoutes } from './pages/blocks.tsx';
import { connectionRoutes } from './pages/connections.tsx';
import { consentRoutes } from './pages/consent.tsx';
import { contactNewRoutes } from './pages/contact-new.tsx';
import { contactRemoveRoutes } from './pages/contact-remove.tsx';
import { contactListRoutes } from './pages/contacts.tsx';
import { credentialNewRoutes } from './pages/credential-new.tsx';
import { credentialRevokeRoutes } from './pages/credential-revoke.tsx';
import { credentialListRoutes } from './pages/credentials.tsx';
import { erasureRoutes } from './pages/erasures.tsx';
import { exportRoutes } from './pages/exports.tsx';
import { externalAccountRoutes } from './pages/external-accounts.tsx';
import { externalSignInRoutes } from './pages/external-sign-in.tsx';
import { homeRoutes } from './pages/home.tsx';
import { memberRemoveRoutes } from './pages/member-remove.tsx';
import { organizationAuditRoutes } from './pages/organization-audit.tsx';
import { organizationRoutes } from './pages/organization.tsx';
import { organizationListRoutes } from './pages/organizations.tsx';
import { sessionRoutes } from './pages/sessions.tsx';
import { signInRoutes } from './pages/sign-in.tsx';
import { signOutRoutes } from './pages/sign-out.ts';
import { signUpRoutes } from './pages/sign-up.tsx';
import { startRoutes } from './pages/start.tsx';
import { webhookActionRoutes } from './pages/webhook-actions.tsx';
import { webhookNewRoutes } from './pages/webhook-new.tsx';
import { webhookRoutes } from './pages/webhook.tsx';
import { webhookListRoutes } from './pages/webhooks.tsx';
import type { PageParts } from './parts.ts';
import type { ConsoleRoute } from './route.ts';

/** Every page and every form of the console. */
export function consoleRoutes(parts: PageParts): ConsoleRoute[] {
  return [
    ...startRoutes(parts),
    ...signInRoutes(parts),
    ...signUpRoutes(parts),
    ...externalSignInRoutes(parts),
    ...signOutRoutes(parts),
    ...consentRoutes(parts),
    ...homeRoutes(parts),
    ...agentListRoutes(parts),
    // Before what takes any other word for the id of an agent.
    ...agentNewRoutes(parts),
    ...agentProfileRoutes(parts),
    ...agentSettingsRoutes(parts),
    ...agentDeleteRoutes(parts),
    ...agentEraseRoutes(parts),
    ...erasureRoutes(parts),
    ...exportRoutes(parts),
    ...contactListRoutes(parts),
    ...contactNewRoutes(parts),
    ...contactRemoveRoutes(parts),
    ...blockRoutes(parts),
    ...allowlistRoutes(parts),
    ...credentialListRoutes(parts),
    ...credentialNewRoutes(parts),
    ...credentialRevokeRoutes(parts),
    ...webhookListRoutes(parts),
    // Before what takes any other word for the id of a webhook.
    ...webhookNewRoutes(parts),
    ...webhookRoutes(parts),
    ...webhookActionRoutes(parts),
    ...connectionRoutes(parts),
    ...approvalListRoutes(parts),
    ...approvalRoutes(parts),
    ...organizationListRoutes(parts),
    ...organizationRoutes(parts),
    ...organizationAuditRoutes(parts),
    ...memberRemoveRoutes(parts),
    ...accountRoutes(parts),
    ...externalAccountRoutes(parts),
    ...sessionRoutes(parts),
  ];
}
