import { useFrame } from '../frame.ts';

const places = [
  ['/console', 'Home'],
  ['/console/agents', 'Agents'],
  ['/console/approvals', 'Approvals'],
  ['/console/connections', 'Connected apps'],
  ['/console/organizations', 'Organizations'],
  ['/console/sessions', 'Sessions'],
  ['/console/account', 'Account'],
] as const;

/** The way through the console; tells which place the page belongs to. */
export function Navigation() {
  const { path } = useFrame();
  return (
    <nav class="places" aria-label="Console">
      <ul>
        {places.map(([address, name]) => (
          <li key={address}>
            <a href={address} aria-current={currency(address, path)}>
              {name}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

function currency(address: string, path: string): 'page' | 'true' | undefined {
  if (path === address) return 'page';
  return address !== '/console' && path.startsWith(`${address}/`) ? 'true' : undefined;
}
