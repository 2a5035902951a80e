const form = document.querySelector("formbridge-form");

form.addEventListener("formbridge-submitted", ({ detail }) => {
  const thanks = document.querySelector("#thanks");
  thanks.textContent = `Thank you! Your reference is ${detail.submissionId}.`;
  thanks.hidden = false;
});
