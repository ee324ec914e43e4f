import { useLayoutContext } from './layout-context.ts';

interface TabsProps {
  /** Label for screen readers. */
  label: string;
  tabs: readonly (readonly [address: string, name: string])[];
  /** The tab of a subpage. Default: the tab with the path of the page. */
  current?: string | undefined;
  /** Below other tabs. */
  isSmall?: boolean;
}

/** Tab navigation. */
export function Tabs({ label, tabs, current, isSmall = false }: TabsProps) {
  const { path } = useLayoutContext();
  return (
    <nav class={isSmall ? 'tabs small' : 'tabs'} aria-label={label}>
      <ul>
        {tabs.map(([address, name]) => (
          <li key={address}>
            <a href={address} aria-current={ariaCurrent(address, path, current)}>
              {name}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

function ariaCurrent(
  address: string,
  path: string,
  current: string | undefined,
): 'page' | 'true' | undefined {
  if (address === path) return 'page';
  return address === current ? 'true' : undefined;
}
