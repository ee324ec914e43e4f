import type { ComponentChildren } from 'preact';
import { useLayoutContext } from './layout-context.ts';

interface FormProps {
  /** A path of ours; POST. */
  action: string;
  class?: string;
  /** Fields that nobody sees, by name. */
  hidden?: Record<string, string | undefined>;
  children: ComponentChildren;
}

/** A form that changes something. It carries what tells it from one that another site sends. */
export function Form({ action, class: kind = 'stack', hidden = {}, children }: FormProps) {
  const { csrf } = useLayoutContext();
  const all = Object.entries({ csrf: csrf(), ...hidden });
  return (
    <form method="post" action={action} class={kind} accept-charset="utf-8">
      {all.map(
        ([name, value]) =>
          value !== undefined && <input type="hidden" name={name} value={value} key={name} />,
      )}
      {children}
    </form>
  );
}

interface ButtonProps {
  children: ComponentChildren;
  /** One primary button a form; `danger` for what cannot be undone. */
  kind?: 'primary' | 'quiet' | 'danger';
  /** Sent along when this button was pressed. */
  name?: string;
  value?: string;
  /** Wide on every screen. */
  wide?: boolean;
  /** Works whatever is filled in. */
  unchecked?: boolean;
}

export function Button({ children, kind = 'primary', name, value, wide = false, unchecked }: ButtonProps) {
  return (
    <button
      formNoValidate={unchecked}
      type="submit"
      class={`button ${kind}${wide ? ' wide' : ''}`}
      name={name}
      value={value}
    >
      {children}
    </button>
  );
}

/** A link that looks like a button: for going somewhere, never for changing something. */
export function ButtonLink({ href, kind = 'quiet', wide = false, children }: LinkProps) {
  return (
    <a class={`button ${kind}${wide ? ' wide' : ''}`} href={href}>
      {children}
    </a>
  );
}

interface LinkProps {
  href: string;
  kind?: 'primary' | 'quiet' | 'danger';
  wide?: boolean;
  children: ComponentChildren;
}

/** Buttons side by side, below a form or a card; `even` when none is the lesser one in size. */
export function Actions({ children, even = false }: { children: ComponentChildren; even?: boolean }) {
  return <div class={even ? 'actions even' : 'actions'}>{children}</div>;
}
