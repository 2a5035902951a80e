type Props = Record<string, string | boolean | undefined>;

/** An element with attributes and children. Text is always text: nothing that was typed becomes markup. */
export function el<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  props: Props = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children);
  return element;
}

/** Buttons and Enter instead of a form's submission: sandboxes without `allow-forms` never submit one. */
export function button(label: string, act: () => void, className = ""): HTMLButtonElement {
  const made = el("button", { type: "button", class: className }, label);
  made.addEventListener("click", act);
  return made;
}
