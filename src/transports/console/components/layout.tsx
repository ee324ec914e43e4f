import { useLayoutContext } from './layout-context.ts';
import type { Shell, ShownPage } from '../route.ts';
import { Notice } from './content.tsx';
import { PostButton } from './form.tsx';
import { AccountMenu, Navigation } from './navigation.tsx';

export const productName = 'Agent Messaging';

/** The HTML document of a page. */
export function Layout({
  title,
  body,
  shell = 'console',
  hasNews,
  status = 200,
  asksPassword = false,
}: ShownPage) {
  const { assets, person, flash, openApprovals, notifies, isCompact, hasLetterKeys } = useLayoutContext();
  // A page with news of its own has their number in its title.
  const count = hasNews === undefined && openApprovals > 0 ? `(${openApprovals}) ` : '';
  const actualShell: Shell = shell === 'console' && !person ? 'focus' : shell;
  const script = {
    console: assets.script,
    focus: asksPassword ? assets.passwordScript : undefined,
    start: assets.copyScript,
    watch: assets.watchScript,
  }[actualShell];
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="robots" content="noindex" />
        <title>{`${count}${title} · ${productName}`}</title>
        <link rel="stylesheet" href={assets.styles} data-turbo-track="reload" />
        <TurboRules shell={actualShell} status={status} />
        {script && <script {...script} type="module" />}
        <link
          rel="icon"
          type="image/svg+xml"
          href={(hasNews ?? openApprovals > 0) ? assets.markWithNews : assets.mark}
        />
      </head>
      <body
        class={`shell-${actualShell}${isCompact ? ' compact' : ''}`}
        data-notifies={notifies ? '' : undefined}
        data-letters={hasLetterKeys ? undefined : 'off'}
      >
        <a class="skip" href="#main">
          Skip to content
        </a>
        <Top shell={actualShell} />
        {actualShell === 'console' && <Navigation />}
        <main id="main" tabIndex={-1}>
          {flash && (
            <div class="flash">
              <Notice tone={flash.tone}>{flash.text}</Notice>
              {flash.undo && (
                <div class="undo">
                  <PostButton label="Undo" {...flash.undo} />
                </div>
              )}
            </div>
          )}
          {body}
        </main>
      </body>
    </html>
  );
}

/**
 * Sign-in, consent and the start page are ordinary navigations. A form that was kept over the end of a session (status 403) must not be
 * requested again. A page that answers a form can have a secret, so it is not kept.
 */
function TurboRules({ shell, status }: { shell: Shell; status: number }) {
  const { method } = useLayoutContext();
  if (shell !== 'console')
    return status === 200 ? <meta name="turbo-visit-control" content="reload" /> : null;
  return (
    <>
      <meta name="turbo-root" content="/console" />
      <meta name="turbo-refresh-method" content="morph" />
      <meta name="turbo-refresh-scroll" content="preserve" />
      <meta name="turbo-cache-control" content={method === 'POST' ? 'no-cache' : 'no-preview'} />
    </>
  );
}

function Top({ shell }: { shell: Shell }) {
  const { assets, person } = useLayoutContext();
  const brand = (
    <>
      <img src={assets.mark} alt="" width="32" height="32" />
      <span>{productName}</span>
    </>
  );
  return (
    <header class="top">
      {shell === 'watch' ? (
        <span class="brand">{brand}</span>
      ) : (
        <a class="brand" href={person ? '/console' : '/'}>
          {brand}
        </a>
      )}
      {shell === 'console' && person && <AccountMenu username={person.username} />}
    </header>
  );
}
