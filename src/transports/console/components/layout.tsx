import { useLayoutContext } from './layout-context.ts';
import type { Shell, ShownPage } from '../route.ts';
import { Notice } from './content.tsx';
import { AccountMenu, Navigation } from './navigation.tsx';

const productName = 'Agent Messaging';

/** The HTML document of a page. */
export function Layout({ title, body, shell = 'console', hasNews }: ShownPage) {
  const { assets, person, flash, openApprovals, scripts, isCompact } = useLayoutContext();
  // A page with news of its own has their number in its title.
  const count = hasNews === undefined && openApprovals > 0 ? `(${openApprovals}) ` : '';
  const actualShell: Shell = shell === 'console' && !person ? 'focus' : shell;
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="robots" content="noindex" />
        <title>{`${count}${title} · ${productName}`}</title>
        <link rel="stylesheet" href={assets.styles} />
        {scripts.map((name) => (
          <script {...assets.scripts[name]} type="module" key={name} />
        ))}
        <link
          rel="icon"
          type="image/svg+xml"
          href={(hasNews ?? openApprovals > 0) ? assets.markWithNews : assets.mark}
        />
      </head>
      <body class={`shell-${actualShell}${isCompact ? ' compact' : ''}`}>
        <a class="skip" href="#main">
          Skip to content
        </a>
        <Top shell={actualShell} />
        {actualShell === 'console' && <Navigation />}
        <main id="main" tabIndex={-1}>
          {flash && <Notice tone={flash.tone}>{flash.text}</Notice>}
          {body}
        </main>
      </body>
    </html>
  );
}

function Top({ shell }: { shell: Shell }) {
  const { assets, person } = useLayoutContext();
  return (
    <header class="top">
      <a class="brand" href={person ? '/console' : '/'}>
        <img src={assets.mark} alt="" width="32" height="32" />
        <span>{productName}</span>
      </a>
      {shell === 'console' && person && <AccountMenu username={person.username} />}
    </header>
  );
}
