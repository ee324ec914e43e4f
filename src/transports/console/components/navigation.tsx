import { useLayoutContext } from './layout-context.ts';

const navigationLinks = [
  ['/console', 'Home'],
  ['/console/conversations', 'Conversations'],
  ['/console/usage', 'Usage'],
  ['/console/agents', 'Agents'],
  ['/console/approvals', 'Approvals'],
  ['/console/connections', 'Connected apps'],
  ['/console/organizations', 'Organizations'],
  ['/console/notifications', 'Notifications'],
  ['/console/sessions', 'Sessions'],
  ['/console/account', 'Account'],
] as const;

/** The main navigation; marks the current section. */
export function Navigation() {
  const { path, openApprovals } = useLayoutContext();
  return (
    <nav class="navigation" aria-label="Console">
      <ul>
        {navigationLinks.map(([address, name]) => (
          <li key={address}>
            <a href={address} aria-current={ariaCurrent(address, path)}>
              {name}
              {name === 'Approvals' && openApprovals > 0 && (
                <span class="count">
                  {openApprovals}
                  <span class="visually-hidden"> pending</span>
                </span>
              )}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

function ariaCurrent(address: string, path: string): 'page' | 'true' | undefined {
  if (path === address) return 'page';
  return address !== '/console' && path.startsWith(`${address}/`) ? 'true' : undefined;
}
