import { preferencesPath } from '../preferences.ts';
import { Form } from './form.tsx';
import { useLayoutContext } from './layout-context.ts';
import { OpenApprovals, openApprovalsId } from './live-region.tsx';

const navigationLinks = [
  ['/console', 'Home'],
  ['/console/conversations', 'Conversations'],
  ['/console/agents', 'Agents'],
  ['/console/approvals', 'Approvals'],
  ['/console/usage', 'Usage'],
  ['/console/connections', 'Connected apps'],
  ['/console/organizations', 'Organizations'],
] as const;

const accountLinks = [
  ['/console/account', 'Account'],
  ['/console/sessions', 'Sessions'],
  ['/console/notifications', 'Notifications'],
  ['/console/audit', 'Audit log'],
  ['/console/keys', 'Keyboard'],
  ['/docs/guide', 'Help'],
] as const;

const allPagesPath = '/console/find';

/** The pages that a person can go to from anywhere. */
export const consoleLinks = [...navigationLinks, ...accountLinks];

/** The main navigation; marks the current section. On phones it is a bar with four links, and one to a list of all pages. */
export function Navigation() {
  const { path, openApprovals } = useLayoutContext();
  return (
    <nav class="navigation" aria-label="Console">
      <ul>
        {navigationLinks.map(([address, name]) => (
          <li key={address}>
            <a href={address} aria-current={ariaCurrent(address, path)}>
              {name}
              {name === 'Approvals' && (
                <span id={openApprovalsId}>
                  <OpenApprovals count={openApprovals} />
                </span>
              )}
            </a>
          </li>
        ))}
        <li class="only-phone">
          <a href={allPagesPath} aria-current={ariaCurrent(allPagesPath, path)}>
            More
          </a>
        </li>
      </ul>
    </nav>
  );
}

/** The pages about the person, and signing out, behind the person's name. It opens without a script. */
export function AccountMenu({ username }: { username: string }) {
  const { path, isCompact } = useLayoutContext();
  return (
    <details class="menu account-menu">
      <summary aria-label={`Account menu of ${username}`}>
        <span>{username}</span>
      </summary>
      <div class="menu-content">
        <nav aria-label="Account">
          <ul>
            {accountLinks.map(([address, name]) => (
              <li key={address}>
                <a href={address} aria-current={ariaCurrent(address, path)}>
                  {name}
                </a>
              </li>
            ))}
          </ul>
        </nav>
        <Form
          action={preferencesPath}
          class="inline"
          hidden={{ to: path, density: isCompact ? 'comfortable' : 'compact' }}
        >
          <button class="link" type="submit">
            {isCompact ? 'Comfortable lists' : 'Compact lists'}
          </button>
        </Form>
        <Form action="/sign-out" class="inline">
          <button class="link" type="submit">
            Sign out
          </button>
        </Form>
      </div>
    </details>
  );
}

function ariaCurrent(address: string, path: string): 'page' | 'true' | undefined {
  if (path === address) return 'page';
  return address !== '/console' && path.startsWith(`${address}/`) ? 'true' : undefined;
}
