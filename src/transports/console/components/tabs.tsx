import { useLayoutContext } from './layout-context.ts';

interface TabsProps {
  /** What the pages belong to; read out, not seen. */
  label: string;
  tabs: readonly (readonly [address: string, name: string])[];
  /** The address of the tab that a page below it belongs to; the page's own unless told otherwise. */
  current?: string | undefined;
}

/** The pages of one thing, side by side. */
export function Tabs({ label, tabs, current }: TabsProps) {
  const { path } = useLayoutContext();
  return (
    <nav class="tabs" aria-label={label}>
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
