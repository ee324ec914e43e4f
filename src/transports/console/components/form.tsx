import type { ComponentChildren } from 'preact';
import { KeptFieldsProvider } from './kept-fields.ts';
import { useLayoutContext } from './layout-context.ts';

interface FormProps {
  /** Path to post to. */
  action: string;
  class?: string;
  /** Hidden fields by name. */
  hidden?: Record<string, string | undefined> | undefined;
  /** Whether the script sends it, so that the page stays. Only for forms that are always answered with a redirect or an error. */
  redirects?: boolean;
  id?: string;
  /** Whether it has files. */
  hasFiles?: boolean | undefined;
  children: ComponentChildren;
}

/** A POST form with a CSRF token. */
export function Form(props: FormProps) {
  const { action, class: className = 'stack', hidden = {}, redirects, id, hasFiles, children } = props;
  const { csrf, keptForm } = useLayoutContext();
  const fields = Object.entries({ csrf: csrf(), ...hidden });
  const kept = keptForm?.action === action ? keptForm.fields : undefined;
  return (
    <form
      method="post"
      action={action}
      class={className}
      id={id}
      encType={hasFiles === true ? 'multipart/form-data' : undefined}
      accept-charset="utf-8"
      data-turbo={redirects === true ? 'true' : undefined}
    >
      {fields.map(
        ([name, value]) =>
          value !== undefined && <input type="hidden" name={name} value={value} key={name} />,
      )}
      <KeptFieldsProvider value={kept}>{children}</KeptFieldsProvider>
    </form>
  );
}

interface ButtonProps {
  children: ComponentChildren;
  /** One primary button per form; `danger` for actions that cannot be undone. */
  kind?: 'primary' | 'quiet' | 'danger' | undefined;
  /** Sent when this button is pressed. */
  name?: string;
  value?: string;
  /** Full width. */
  wide?: boolean;
  /** Skips form validation. */
  skipsValidation?: boolean;
}

/** A submit button. */
export function Button({
  children,
  kind = 'primary',
  name,
  value,
  wide = false,
  skipsValidation,
}: ButtonProps) {
  return (
    <button
      formNoValidate={skipsValidation}
      type="submit"
      class={`button ${kind}${wide ? ' wide' : ''}`}
      name={name}
      value={value}
    >
      {children}
    </button>
  );
}

/** A link that looks like a button. */
export function ButtonLink({ href, kind = 'quiet', wide = false, isFile = false, children }: LinkProps) {
  return (
    <a class={`button ${kind}${wide ? ' wide' : ''}`} href={href} data-turbo={isFile ? 'false' : undefined}>
      {children}
    </a>
  );
}

interface LinkProps {
  href: string;
  kind?: 'primary' | 'quiet' | 'danger';
  wide?: boolean;
  /** Whether it leads to a file in place of a page. */
  isFile?: boolean;
  children: ComponentChildren;
}

/** Buttons side by side; `even` gives them equal widths. */
export function Actions({ children, even = false }: { children: ComponentChildren; even?: boolean }) {
  return <div class={even ? 'actions even' : 'actions'}>{children}</div>;
}

interface AboutProps {
  label: string;
  /** What the button is about, for screen readers: they read buttons of rows out of their context. */
  about?: string | undefined;
}

type PostButtonProps = Pick<FormProps, 'action' | 'hidden' | 'redirects'> & Pick<ButtonProps, 'kind'>;

/** A form that is one button, such as that of a row. */
export function PostButton(props: PostButtonProps & AboutProps) {
  const { action, hidden, about, kind = 'quiet', label, redirects = true } = props;
  return (
    <Form action={action} class="inline" hidden={hidden} redirects={redirects}>
      <Button kind={kind}>
        {label}
        <About text={about} />
      </Button>
    </Form>
  );
}

/** A link of a row that looks like a button. */
export function RowLink({ about, label, ...link }: Omit<LinkProps, 'children'> & AboutProps) {
  return (
    <ButtonLink {...link}>
      {label}
      <About text={about} />
    </ButtonLink>
  );
}

export interface DecisionProps extends Pick<AboutProps, 'about'> {
  action: string;
  hidden?: Record<string, string | undefined> | undefined;
  /** The values of the buttons; undefined: this decision is not possible now. */
  yes: 'approve' | 'accept' | undefined;
  no: 'deny' | 'reject' | 'decline';
  /** For the decision that a page is about; others are in rows. */
  isLarge?: boolean;
}

/** Two buttons that decide something. */
export function Decision({ action, hidden, yes, no, about, isLarge = false }: DecisionProps) {
  const buttons = (
    <>
      {yes !== undefined && (
        <Button name="decision" value={yes}>
          {capitalize(yes)}
          <About text={about} />
        </Button>
      )}
      <Button kind="quiet" name="decision" value={no}>
        {capitalize(no)}
        <About text={about} />
      </Button>
    </>
  );
  return (
    <Form action={action} class={isLarge ? 'stack' : 'button-pair'} hidden={hidden} redirects>
      {isLarge ? <Actions even>{buttons}</Actions> : buttons}
    </Form>
  );
}

function About({ text }: { text: string | undefined }) {
  if (text === undefined) return null;
  return <span class="visually-hidden">{text.startsWith(':') ? text : ` ${text}`}</span>;
}

function capitalize(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
